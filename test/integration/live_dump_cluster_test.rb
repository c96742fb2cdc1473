# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/flight_run"
require "support/puma_cluster"

# A worker of a Puma cluster is dumped while it serves: no request fails, and it ends as it would have.
class LiveDumpClusterTest < Minitest::Test
  include PumaCluster

  DUMPS = FlightRun.torture(2, 4, 100)

  def teardown
    @stopping = true
    @load&.each(&:join)
    super
  end

  def test_a_worker_under_load
    start_cluster
    @answers = Queue.new
    @load = Array.new(3) { Thread.new { @answers << get("#{@address}/pass").code until @stopping } }
    DUMPS.times { |number| dump(@workers[number % 2]) }
    @stopping = true
    @load.each(&:join)
    assert_operator @answers.size, :>, DUMPS
    assert_equal ["200"], Array.new(@answers.size) { @answers.pop }.uniq
    assert_equal 0, ended
    refute_match(/error|terminated|unexpected/i, @cluster.said)
  end

  private

  def dump(worker)
    out, err, status = Open3.capture3(surroundings, *heapline_command("heap", "dump", *PATIENTLY, "-o",
                                                                      place("worker.json.gz"), worker.to_s))
    assert status.success?, err
    assert_match(/\Awrote .*: process #{worker}, /, out)
  end

  # The exit code after Ctrl-C.
  def ended
    Process.kill(:INT, @cluster.pid)
    await("the cluster did not end") { Process.wait2(@cluster.pid, Process::WNOHANG)&.last }
      .exitstatus
  end
end
