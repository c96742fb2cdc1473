# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/puma_cluster"

# The endpoint in a real Puma cluster of two workers with one thread each.
class EndpointsIntegrationTest < Minitest::Test
  include PumaCluster

  def test_a_worker_shows_itself_the_others_and_all
    start_cluster
    requests = leak

    assert_equal "401", get("#{@address}/heapline/each").code
    assert_includes @workers, ask("/each.json")["process"]["pid"]
    assert_equal [@cluster.pid, *@workers].sort, pids(ask("/processes.json")["processes"])
    kept = @workers.map { |pid| leaked(ask("/#{pid}/each.json")) }
    assert_equal requests, kept.sum
    assert(kept.all?(&:positive?), kept.inspect)
    assert_equal kept.sum, leaked(ask("/tree/each.json"))
    assert_equal leaked(ask("/#{@workers[0]}/each.json")), leaked(ask("/#{@workers[0]}/at/#{place("leak.rb")}:3"))
  end

  def test_metrics_are_of_the_whole_cluster
    start_cluster
    leak
    body = get("#{@address}/heapline/metrics", token: TOKEN).body
    pids = body.scan(/^heapline_live_bytes\{pid="(\d+)"\}/).flatten.map(&:to_i)
    assert_equal [@cluster.pid, *@workers].sort, pids.sort
    site = "pid=\"#{@workers[0]}\",location=\"#{place("leak.rb")}:3\",label=\"Leak#keep\""
    assert_includes body, "heapline_site_live_bytes{#{site}"
  end

  def test_waiting_answers_keep_no_thread
    start_cluster
    waiting = Array.new(6) { open_delta }
    leak
    waiting.each(&:close)
    answer = await("the waiting ones keep their places") do
      found = get("#{@address}/heapline/debug/pprof/delta_heap?seconds=1", token: TOKEN)
      found if found.code == "200"
    end
    assert answer.body.start_with?("\x1f\x8b".b)
  end

  def test_go_reads_the_profiles
    skip "go is not installed: script/setup --develop" unless system("go", "version", out: File::NULL, err: File::NULL)
    start_cluster
    leak
    address = @address.sub("//", "//heapline:#{TOKEN}@")
    %w[/tree/debug/pprof/heap /tree/debug/pprof/allocs].each do |path|
      out, err, status = Open3.capture3({ "PPROF_TMPDIR" => place }, "go", "tool", "pprof", "-top",
                                        "-nodefraction=0", "-nodecount=100000", "#{address}/heapline#{path}")
      assert status.success?, err
      assert_match(/Leak#keep/, out)
    end
  end

  private

  def ask(path)
    response = get("#{@address}/heapline#{path}", token: TOKEN, Accept: "application/json")
    assert_equal "200", response.code, response.body
    JSON.parse(response.body)
  end

  def pids(processes)
    processes.map { |one| one["pid"] }.sort
  end

  # How many blocks the leaking line keeps; a little more than they is live there.
  def leaked(report)
    found = report["sites"].select { |site| site["location"] == "#{place("leak.rb")}:3" }
    found.sum { |site| site["live_bytes"] } / KEPT
  end

  # A connection on which a worker's answer waits for minutes.
  def open_delta
    uri = URI(@address)
    TCPSocket.new(uri.host, uri.port).tap do |socket|
      socket.write("GET /heapline/debug/pprof/delta_heap?seconds=300 HTTP/1.1\r\nHost: localhost\r\n" \
                   "Authorization: Bearer #{TOKEN}\r\n\r\n")
    end
  end
end
