# frozen_string_literal: true

require "test_helper"
require "support/accounted"
require "heapline/cli"
require "heapline/leaks/leaks_command"

module Heapline
  module Leaks
    class LeaksCommandRunTest < Minitest::Test
      include Accounted

      def test_a_command_that_is_no_ruby
        _, err, status = heapline("leaks", "true")
        assert_equal Command::FAILED, status.exitstatus
        assert_match(/no process of true was searched: none was Ruby/, err)
      end

      # Code of a program => how it ends, and what is said of that.
      UNSEARCHED = { "exit!(7)" => [7, "it ended through exit!"], "exit!(0)" => [3, "it ended through exit!"],
                     "Process.kill(:KILL, $$); sleep" => [137, "it ended by SIGKILL"] }.freeze

      def test_an_end_that_cannot_be_searched_is_said
        UNSEARCHED.each do |code, (expected, text)|
          out, err, status = heapline("leaks", RbConfig.ruby, "-e", code)
          assert_equal [expected, ""], [status.exitstatus, out], code
          assert_match(/\Aheapline: process \d+ was not searched: #{text}, before its at_exit handlers\n\z/, err)
        end
      end

      # What it becomes is searched if it is Ruby.
      def test_a_program_that_became_another_one
        left = /heapline: process \d+ was not searched before exec made it another program\n/
        { 'exec("true")' => [3, /\A\z/], 'exec("false")' => [1, /\A\z/],
          "exec(RbConfig.ruby, '-e', 'exit 4')" => [4, /\Aprocess/] }.each do |code, (expected, text)|
          out, err, status = heapline("leaks", RbConfig.ruby, "-e", code)
          assert_equal expected, status.exitstatus, code
          assert_match text, out, code
          assert_match(/\A#{left}\z/, err, code)
        end
        _, err, = heapline("leaks", RbConfig.ruby, "-e", "exec(RbConfig.ruby, '-e', 'exit!')")
        assert_match(/\A#{left}heapline: process \d+ was not searched: it ended through exit!/, err)
      end

      # Why, is said by the process alone.
      def test_a_search_that_fails_is_no_end_without_one
        ends = { "Process.setrlimit(:AS, 200_000_000); exit 0" => "Cannot allocate memory" }
        ends["Process::UID.change_privilege(65534); 0"] = "Permission denied" if Process.uid.zero?
        ends.each do |code, why|
          _, err, status = heapline("leaks", RbConfig.ruby, "-e", code)
          assert_equal Command::FAILED, status.exitstatus
          assert_match(/\Aheapline: lost blocks were not looked for in process \d+: #{why}\n\z/, err, code)
        end
      end

      # Nobody waits for what it finds any more.
      def test_an_orphan_is_silent_after_the_command_has_ended
        code = "fork { $stdin.read; exit 2 }; exit 0"
        reading, writing = IO.pipe
        err, said = IO.pipe
        pid = Process.spawn(*heapline_command("leaks", RbConfig.ruby, "-e", code), in: reading, out: File::NULL,
                                                                                   err: said)
        [reading, said].each(&:close)
        Process.wait(pid)
        writing.close
        assert_match(/\Aheapline: process \d+ was not searched: it still runs: heapline leaks \d+\n\z/, err.read)
      end

      CHILDREN = <<~RUBY
        puts fork { exit! }
        puts fork { "x" * 1000; exec("true") }
        begin
          exec "/nonexistent"
        rescue Errno::ENOENT
          Process.waitall
        end
      RUBY

      # A process whose pid another one had before it.
      def test_a_pid_that_came_twice
        run = CommandRun.allocate
        Dir.mktmpdir do |directory|
          %w[99-1.begun 99-2.begun 99-2.leaks 4711-1.begun].each { |name| File.write(File.join(directory, name), "") }
          said = StringIO.new
          run.instance_variable_set(:@err, said)
          run.send(:say_unsearched, directory, Struct.new(:pid).new(1))
          assert_equal %w[99 4711], said.string.scan(/process (\d+) was not searched/).flatten
        end
      end

      # What becomes another program is none that was left out; where that fails, it goes on.
      def test_of_children_too
        out, err, status = heapline("leaks", RbConfig.ruby, "-e", CHILDREN)
        assert_predicate status, :success?
        child = out.lines.first.chomp
        assert_equal "heapline: process #{child} was not searched: it ended through exit! or a signal, before its " \
                     "at_exit handlers\n", err
        assert_match(/^process \d+: [\d,]+ live blocks/, out)
      end

      def test_its_arguments_input_and_output_are_its_own
        out, = heapline("leaks", RbConfig.ruby, "-e", "puts ARGV.inspect, $stdin.read", "--", "--all", stdin_data: "in")
        assert_equal ["[\"--all\"]\n", "in\n"], out.lines.first(2)
      end

      def test_options_of_the_environment_stay
        run = CommandRun.allocate
        run.instance_variable_set(:@env, { "HEAPLINE" => "gc,top:5,output:x", "PATH" => "/bin" })
        run.instance_variable_set(:@wishes, [:reachable])
        run.instance_variable_set(:@core, {})
        changes = run.send(:environment, "/tmp/d")
        assert_equal ["gc,top:5,quiet,blocks", "1/tmp/d", nil],
                     changes.values_at("HEAPLINE", "HEAPLINE_LEAKS", "HEAPLINE_TOP")
      end

      CommandRun = Leaks::CommandRun
    end
  end
end
