# frozen_string_literal: true

require "test_helper"
require "support/accounted"
require "heapline/cli"
require "heapline/cli/leaks"

module Heapline
  module CLI
    class LeaksCommandRunTest < Minitest::Test
      include Accounted

      def test_a_command_that_is_no_ruby
        _, err, status = heapline("leaks", "true")
        assert_equal CLI::PROBLEM, status.exitstatus
        assert_match(/no process of true was searched/, err)
      end

      def test_its_arguments_input_and_output_are_its_own
        out, = heapline("leaks", RbConfig.ruby, "-e", "puts ARGV.inspect, $stdin.read", "--", "--all", stdin_data: "in")
        assert_equal ["[\"--all\"]\n", "in\n"], out.lines.first(2)
      end

      def test_a_signal_is_passed_on
        file = program("trap(:TERM) { puts 'asked to end'; exit 4 }\nputs Process.pid\n$stdout.flush\nsleep")
        reader, writer = IO.pipe
        pid = Process.spawn(environment, *heapline_command("leaks", RbConfig.ruby, file), out: writer)
        writer.close
        @processes << pid
        reader.gets
        Process.kill(:TERM, pid)
        assert_equal "asked to end\n", reader.gets
        assert_equal 4, Process.wait2(pid).last.exitstatus
      end

      def test_options_of_the_environment_stay
        run = CommandRun.allocate
        run.instance_variable_set(:@env, { "HEAPLINE" => "gc,top:5,output:x", "PATH" => "/bin" })
        run.instance_variable_set(:@flags, 1)
        changes = run.send(:environment, "/tmp/d")
        assert_equal ["gc,top:5,quiet,blocks", "1/tmp/d", nil],
                     changes.values_at("HEAPLINE", "HEAPLINE_LEAKS", "HEAPLINE_TOP")
      end

      CommandRun = Leaks::CommandRun
    end
  end
end
