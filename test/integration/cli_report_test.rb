# frozen_string_literal: true

require "test_helper"
require "heapline/accounting/process_identity"
require "support/accounted"

module Heapline
  # Reading processes that run, hang, have died or have forked.
  class CliReportTest < Minitest::Test
    include Accounted

    HOLDING = <<~RUBY
      KEPT = Array.new(20) do
        "x" * 100_000
      end
      $stdout.sync = true
      puts "ready"
      loop do
        sleep 0.01
        KEPT << ("y" * 2_000)
      end
    RUBY

    FORKING = <<~RUBY
      KEPT = ["p" * 1_000_000]
      $stdout.sync = true
      child = fork do
        KEPT << ("c" * 3_000_000)
        puts Process.pid
        sleep
      end
      at_exit { Process.kill(:KILL, child) }
      sleep
    RUBY

    def test_a_running_process
      file = program(HOLDING)
      pid, = start(file)
      report = json_report(pid)
      assert_equal "running", report["process"]["state"]
      assert_in_delta 2_000_000, figure(report, "#{file}:2", "live_bytes"), 10_000
      # Ruby 3.2 has its transient heap from malloc, and has not touched most of it.
      memory = report["memory"]
      assert_operator memory["rss_bytes"] + memory["untouched_bytes"], :>, report["totals"]["live_bytes"]
      report["sites"].each do |site|
        assert_operator site["frees"], :<=, site["allocations"]
        assert_equal site["live_bytes"], site["bytes_allocated"] - site["bytes_freed"]
      end
    end

    def test_a_stopped_process
      file = program(HOLDING)
      pid, = start(file)
      halt(pid)
      assert_equal [json_report(pid)["totals"]], [json_report(pid)["totals"]]
      assert_in_delta 2_000_000, figure(json_report(pid), "#{file}:2", "live_bytes"), 10_000
    end

    def test_a_killed_process
      file = program(HOLDING)
      pid, = start(file)
      stop(pid)
      report = json_report(pid)
      assert_equal ["killed", nil], [report["process"]["state"], report["memory"]["rss_bytes"]]
      assert_in_delta 2_000_000, figure(report, "#{file}:2", "live_bytes"), 10_000
      assert_match(/^ *#{pid} +killed/, heapline("ps").first)
      assert_match(/removed 1 flight file/, heapline("ps", "--clean").first)
      assert_empty flight_files
    end

    def test_a_baseline_from_outside
      file = program(HOLDING)
      pid, = start(file)
      before = json_report(pid)
      out, err, status = heapline("baseline", *PATIENTLY, pid.to_s)
      assert status.success?, err
      assert_match(/growth counts from now on/, out)
      await("nothing grew") { figure(json_report(pid), "#{file}:8", "growth_bytes").positive? }
      after = json_report(pid)
      assert_equal 0, figure(after, "#{file}:2", "growth_bytes")
      assert_equal "clear", after["process"]["baseline_kind"]
      # How much it grows meanwhile hangs on the machine; what line 2 kept before is no growth any more.
      none, kept = [before, after].map { |report| report["totals"]["live_bytes"] - report["totals"]["growth_bytes"] }
      assert_operator kept - none, :>=, 2_000_000
    end

    def test_a_stopped_process_answers_late
      pid, = start(program(HOLDING))
      halt(pid)
      _, err, status = heapline("baseline", "--timeout", "0.1", pid.to_s)
      assert_equal 3, status.exitstatus
      assert_match(/has allocated nothing for 0.1 s/, err)
      Process.kill(:CONT, pid)
      await("the baseline never began") { json_report(pid)["process"]["baseline_kind"] == "clear" }
    end

    # Where the processes call each other by other pids than we do.
    def test_parent_and_child_in_a_pid_namespace_of_their_own
      unshare = %w[unshare --fork --kill-child --pid --mount-proc]
      skip "needs root and unshare" unless Process.uid.zero? && system(*unshare, "true")

      reader, writer = IO.pipe
      command = heapline_command("--quiet", RbConfig.ruby, program(FORKING))
      @processes << Process.spawn(environment, *unshare, *command, out: writer)
      reader.gets
      parent, child = kin(JSON.parse(heapline("ps", "--json").first)["processes"])
      assert_equal [nil, parent[0]], [parent[1], child[1]]
      assert_equal 1, json_report(parent[0], "--merge")["process"]["merged"]
      assert_equal [parent, child], kin(logged(parent[0]))
      heapline("snapshot", "all", "-o", path("%p.heapline"))
      assert_equal([parent[0], child[0]].sort, Dir.children(@directory).grep(/heapline\z/).map(&:to_i).sort)
    end

    # Parents before their children.
    def kin(rows)
      rows.map { |row| row.values_at("pid", "forked_from_pid") }.sort_by { |row| row.compact.size }
    end

    # The first lines that a growth log has of two processes.
    def logged(pid)
      lines = []
      @processes << Process.spawn(environment, *heapline_command("log", "-o", path("log"), "--every", "0.1", pid.to_s))
      await("no line of a second process") do
        whole = File.exist?(path("log")) ? File.readlines(path("log")).grep(/\n\z/) : [] # one may be on its way
        lines = whole.map { |line| JSON.parse(line) }
        lines.uniq { |line| line["pid"] }.size == 2
      end
      lines.uniq { |line| line["pid"] }
    end

    def test_parent_and_child_apart_and_together
      file = program(FORKING)
      pid, child = start(file)
      parent_report = json_report(pid)
      child_report = json_report(child)
      assert_equal pid, child_report["process"]["forked_from_pid"]
      assert_operator figure(parent_report, "#{file}:4", "live_bytes"), :<, 100_000
      assert_in_delta 3_000_000, figure(child_report, "#{file}:4", "growth_bytes"), 100_000
      assert_equal 0, figure(child_report, "#{file}:1", "growth_bytes")
      both = json_report(pid, "--merge")
      assert_in_delta 1_000_000, figure(both, "#{file}:1", "live_bytes"), 100_000
      assert_in_delta 3_000_000, figure(both, "#{file}:4", "live_bytes"), 100_000
      assert_match(/ pid #{pid} and 1 forked .*--merge #{pid} --by gem/m, heapline("report", "--merge", pid.to_s).first)
      kill(child.to_i)
      alone = json_report(pid, "--merge")
      assert_equal [0, 0], [alone["process"]["merged"], figure(alone, "#{file}:4", "live_bytes")]
      child = nil
    ensure
      stop(child.to_i) if child
    end

    # Its file stays.
    def kill(pid)
      Process.kill(:KILL, pid)
      await { heapline("ps", "--json").first.include?('"killed"') }
    end

    # To count its object heap the process calls Ruby's own methods, which allocate.
    def test_what_a_report_asks_for_is_not_the_programs
      pid, = start(file = program("$stdout.puts 'ready'\n$stdout.flush\nsleep"))
      await("it does not sleep") { state(pid) == "S" }
      before, after = [Dir[path("**/#{pid}-*.flight")].first, pid].map do |source|
        json_report(source)["sites"].select { |site| site["path"] == file }
                                    .map { |site| site.values_at("lineno", "label", "allocations") }
      end
      assert json_report(pid)["ledger"]
      assert_equal before, after
    end

    def test_ps_lists_them_as_json
      pid, = start(program(HOLDING))
      processes = JSON.parse(heapline("ps", "--json").first)["processes"]
      assert_equal([[pid, "running"]], processes.map { |process| process.values_at("pid", "state") })
    end
  end
end
