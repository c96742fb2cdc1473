# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# How a process ends: what stays of its file, what its parent sees, and who makes the report.
class ExitTest < Minitest::Test
  include FlightRun

  ORDERLY = {
    end: "", exit: "exit 3", exit_bang: "exit! 4", abort: "abort 'aborted'", raise: "raise 'uncaught'",
    throw: "throw :nowhere",
    at_exit: "at_exit { exit 5 }; exit 1", at_exit_raises: "at_exit { raise 'late' }", interrupt: "raise Interrupt",
    signal_exception: "raise SignalException, 'TERM'", term: "Process.kill(:TERM, $$); sleep 5",
    int: "Process.kill(:INT, $$); sleep 5",
    hup: "Process.kill(:HUP, $$); sleep 5", trapped: "trap(:USR1) { exit 7 }; Process.kill(:USR1, $$); sleep 5",
    from_thread: "Thread.new { Thread.main.raise(SystemExit.new(8)) }; sleep 5", closed_stderr: "$stderr.close; exit 2",
    finalizers: "ObjectSpace.define_finalizer(Object.new, proc { $stdout.write('f' * 10) }); exit 0"
  }.freeze

  ORDERLY.each do |name, code|
    define_method("test_#{name}_leaves_nothing") do
      text = "$kept = 'k' * 10_000\n$stdout.puts 'out'\n$stderr.puts 'err'\n#{code}\n"
      run = assert_same_behaviour(ruby(script(text)), heapline: "")
      assert_empty run.paths
    end
  end

  def test_kill_leaves_a_readable_file
    run = fly("$kept = 'k' * 1_000_000\nProcess.kill(:KILL, $$)\nsleep\n", heapline: "")
    assert_equal 9, run.status.termsig
    assert_operator run.snapshot.find { |site| site.location.to_s.end_with?("program.rb:1") }.live_bytes, :>, 1_000_000
    assert_equal :killed, run.snapshot.state
    assert_nil run.snapshot.ended_at
  end

  def test_a_crash_leaves_a_readable_file
    run = fly("$kept = 'k' * 1_000_000\nProcess.kill(:SEGV, $$)\nsleep 5\n", heapline: "")
    assert_includes [6, 11], run.status.termsig
    assert_includes run.error, "[BUG] Segmentation fault"
  end

  def test_exec_of_ruby_goes_on_in_a_file_of_its_own
    run = fly(<<~RUBY)
      $first = "f" * 700_000
      exec(#{RbConfig.ruby.inspect}, "--disable=gems", "-e", "$second = %q(s) * 500_000; exit!(0)")
    RUBY
    assert run.status.success?
    assert_equal 1, run.paths.size
    assert(run.snapshot.any? { |site| site.location.to_s == "-e:1" && site.live_bytes >= 500_000 })
    refute(run.snapshot.any? { |site| site.location.to_s.end_with?("program.rb:1") })
  end

  def test_exec_of_another_program_after_fork_leaves_nothing
    run = fly("5.times { Process.wait(fork { exec 'true' }) }; exec 'sh', '-c', 'exit 0'", heapline: "")
    assert run.status.success?
    assert_empty run.paths
  end

  def test_failed_exec_goes_on
    text = "begin; exec '/nowhere'; rescue => e; puts e.class; end; $k = 'k' * 9999; exit 3"
    run = assert_same_behaviour(ruby(script(text)))
    assert_equal 1, run.paths.size
  end

  def test_the_reporter_gets_the_file
    run = reported("$kept = 'k' * 1_000_000\nexit 3\n")
    assert_equal 3, run.status.exitstatus
    assert_equal "report: --exit --fd 3, magic HEAPLINE, preload \"\"\n", run.error
    assert_empty run.paths
  end

  def test_only_the_top_process_reports
    run = reported("Process.wait(fork { exit 1 })\nsystem(#{RbConfig.ruby.inspect}, '-e', '1')\n")
    assert_equal 1, run.error.scan("report:").size
  end

  def test_the_report_after_a_signal
    run = reported("Process.kill(:TERM, $$)\nsleep 5\n")
    assert_equal 15, run.status.termsig
    assert_includes run.error, "report:"
  end

  def test_no_report_where_standard_error_is_another_file
    run = reported("$stderr.reopen(File.join(#{workplace.inspect}, 'other'), 'w')\n")
    assert_equal ["", 0], [run.error, run.status.exitstatus]
    assert_equal "", File.read(File.join(workplace, "other"))
  end

  def test_quiet_makes_no_report
    assert_equal "", reported("1\n", heapline: "quiet").error
  end

  def test_a_reporter_that_is_missing_is_said
    run = reported("exit 4\n", reporter: "/nowhere/reporter")
    assert_equal 4, run.status.exitstatus
    assert_equal "heapline: the report could not be made: /nowhere/reporter: No such file or directory\n", run.error
  end

  def test_no_memory_for_the_reporter_is_said
    run = reported("Process.setrlimit(:AS, 300_000_000); exit 4\n")
    assert_equal 4, run.status.exitstatus
    assert_equal "heapline: the report could not be made: Cannot allocate memory\n", run.error
  end

  def test_counts_that_were_kept_in_memory_only
    command = [RbConfig.ruby, Heapline::TestHelper::EXE, "--top", "1", RbConfig.ruby, "-e", "exit 4"]
    _, err, status = Open3.capture3("sh", "-c", 'ulimit -f 100; exec "$@"', "sh", *command)
    assert_equal 4, status.exitstatus
    assert_match(/^heapline: the report could not be made: the counts were kept in memory only/, err)
  end

  # The program waits for its children: the reporter must not be one of them.
  def test_the_reporter_is_nobodys_child
    run = reported(<<~RUBY)
      trap(:CHLD) { $stdout.syswrite "child" }
      at_exit { begin; Process.wait; rescue Errno::ECHILD; puts "none"; end }
    RUBY
    assert_equal ["none\n", 0], [run.output, run.status.exitstatus]
  end

  private

  # Run a program as `heapline` does, with a reporter that says what it was given.
  def reported(text, reporter: reporter_script, heapline: "")
    top = ["sh", "-c", 'export HEAPLINE_TOP=$$; exec "$@"', "sh", *ruby(script(text))]
    flight(top, heapline: heapline, env: { "HEAPLINE_REPORTER" => [reporter, "--exit"].join("\x1f") })
  end

  def reporter_script
    path = script(<<~SH, name: "reporter")
      #!/bin/sh
      echo "report: $*, magic $(head -c 8 <&3), preload \\"$LD_PRELOAD\\"" >&2
    SH
    File.chmod(0o755, path)
    path
  end
end
