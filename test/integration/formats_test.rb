# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "support/accounted"
require "support/readers"
require "heapline/accounting/flight"

# Formats and snapshots of real processes.
class FormatsTest < Minitest::Test
  include Readers
  include Accounted

  LEAK = <<~RUBY
    KEPT = []
    def leak = KEPT << ("x" * 100_000)
    100.times { leak }
    $stdout.puts "ready"
    $stdout.flush
  RUBY

  # Four threads that allocate and free all the time.
  BUSY = <<~RUBY
    threads = Array.new(4) { |i| Thread.new { loop { Array.new(50) { "x" * rand(500..5000) } } } }
    $stdout.puts "ready"
    $stdout.flush
    threads.each(&:join)
  RUBY

  def test_the_exit_report_as_a_profile_that_pprof_reads
    _, err, status = heapline("-o", path("run.pb.gz"), RbConfig.ruby, program(LEAK))
    assert status.success?, err
    assert_equal 0o600, File.stat(path("run.pb.gz")).mode & 0o777
    raw = pprof("-raw", path("run.pb.gz"))
    assert_match(/Object#leak .*program.rb:2 /, raw)
    assert_operator raw.scan(/^ +1\d\d +(\d+) +1\d\d +\d+: /).flatten.map(&:to_i).max.to_i, :>=, 10_000_000
  end

  def test_metrics_of_a_process_that_runs
    pid, = start(program("#{LEAK}sleep"))
    out, err, status = heapline("report", "--format", "prometheus", pid.to_s)
    assert status.success?, err
    assert_empty promtool(out)
    assert_match(/^heapline_rss_bytes{pid="#{pid}"} \d{7,}$/, out)
    live = out[/^heapline_site_live_bytes{.*program.rb:2",label="Object#leak".*} (\d+)$/, 1]
    assert_operator live.to_i, :>=, 10_000_000
  end

  def test_a_snapshot_of_a_stopped_process_is_what_its_flight_file_says
    pid, = start(program("#{LEAK}loop { leak; sleep 0.01 }"))
    halt(pid)
    _, err, status = heapline("snapshot", pid.to_s, "-o", path("stopped.heapline"))
    assert status.success?, err
    copy = Heapline::Accounting::Flight.read(path("stopped.heapline"))
    assert_equal :copied, copy.state
    assert_equal Heapline::Accounting::Flight.read(flight_files.first).sites, copy.sites
  end

  # The VM's own code: by its part, or by its function where that is known.
  def test_addresses_in_the_vm_have_names_on_the_page_and_in_top
    pid, = start(program("#{LEAK}sleep"))
    out, err, status = heapline("top", "--once", "--by", "line", "--json", pid.to_s)
    assert status.success?, err
    rows = JSON.parse(out).fetch("rows").select { |row| row["gem"] == "ruby core" && row["location"].include?("+0x") }
    refute_empty rows
    rows.each { |row| assert_match(/\A(VM(: [a-z ,]+)?, near )?\w+/, row["label"], row["location"]) }
    _, err, status = heapline("report", pid.to_s, "-o", path("page.html"))
    assert status.success?, err
    page = File.read(path("page.html"))
    rows.each { |row| assert_includes page, row["label"] }
  end

  # Each thread's counts are a lane of their own, which the copies reach at different moments.
  def test_snapshots_of_a_busy_process_fit_together
    pid, = start(program(BUSY))
    40.times do |i|
      heapline("baseline", *PATIENTLY, pid.to_s) if i == 20
      File.binwrite(path("busy.heapline"), Heapline::Accounting::Flight.copy(flight_files.first))
      copy = Heapline::Accounting::Flight.read(path("busy.heapline"))
      refute_includes copy.failures, :impossible_sites
      assert_operator copy.allocations, :>, 0
    end
  end
end
