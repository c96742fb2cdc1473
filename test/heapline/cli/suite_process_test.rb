# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/suites"

class SuiteProcessTest < Minitest::Test
  include Suites

  # `kill` reaches heapline alone; the suite gets it, ends as it likes, and its status is heapline's.
  def test_signals_reach_the_suite
    program = program(<<~RUBY)
      trap(:TERM) { exit 9 }
      $stdout.puts "ready"
      $stdout.flush
      sleep
    RUBY
    reader, writer = IO.pipe
    pid = Process.spawn(environment, *heapline_command("test", "--", ruby, program), out: writer, err: File::NULL)
    @processes << pid
    writer.close
    assert reader.wait_readable(60), "the suite wrote nothing"
    Process.kill(:TERM, pid)
    _, status = Process.wait2(pid)
    assert_equal 9, status.exitstatus
  end
end
