# frozen_string_literal: true

require "test_helper"
require "support/accounted"
require "heapline/cli"
require "heapline/command/child"

module Heapline
  module Command
    class ChildTest < Minitest::Test
      include Accounted

      def child(*words, err: StringIO.new)
        Child.new(words, ENV.fetch("PATH"), err: err)
      end

      # The commands that run a program beside themselves.
      COMMANDS = [%w[test --], %w[leaks], %w[record -o OUT]].freeze

      # `heapline COMMAND ruby PROGRAM`, once the program has written a line: [pid, what it writes].
      def started(command, text, before: [])
        reader, writer = IO.pipe
        words = [*command.map { |word| word.sub("OUT", path("x.hlc")) }, RbConfig.ruby, program(text)]
        pid = Process.spawn(environment(RUBYOPT: nil), *before, *heapline_command(*words), out: writer, err: File::NULL)
        @processes << pid
        writer.close
        assert reader.wait_readable(Heapline::TestHelper::PATIENCE), "the program wrote nothing"
        assert_equal "ready\n", reader.gets
        [pid, reader]
      end

      # `kill` reaches heapline alone; the program gets it, ends as it likes, and its status is heapline's.
      def test_signals_reach_the_program
        COMMANDS.each do |command|
          pid, = started(command, "trap(:TERM) { exit 9 }\n$stdout.puts 'ready'\n$stdout.flush\nsleep")
          Process.kill(:TERM, pid)
          assert_equal 9, Process.wait2(pid).last.exitstatus, command
        end
      end

      # What the caller ignores (nohup, `&` in a script) the program ignores too.
      def test_what_was_ignored_stays_ignored
        COMMANDS.each do |command|
          pid, = started(command, <<~RUBY, before: ["sh", "-c", 'trap "" HUP INT; exec "$@"', "sh"])
            former = %w[HUP INT].map { |name| trap(name, "DEFAULT") }
            $stdout.puts "ready"
            $stdout.flush
            exit(former == %w[IGNORE IGNORE] ? 7 : 8)
          RUBY
          assert_equal 7, Process.wait2(pid).last.exitstatus, command
        end
      end

      # There would be nothing to wait for.
      def test_where_children_are_ignored
        COMMANDS.each do |command|
          pid, = started(command, "$stdout.puts 'ready'\n$stdout.flush\nexit 9",
                         before: ["sh", "-c", 'trap "" CHLD; exec "$@"', "sh"])
          assert_equal 9, Process.wait2(pid).last.exitstatus, command
        end
      end

      def test_its_end_is_waited_for_whatever_happens
        child = child(RbConfig.ruby, "-e", "gets; exit 11")
        assert_raises(Errno::EPIPE) { child.run({}) { raise Errno::EPIPE } }
        assert_equal 11, child.status
      end

      def test_the_status_is_that_of_a_shell
        { ["-e", "exit 3"] => 3, ["-e", "Process.kill(:KILL, $$); sleep"] => 137 }.each do |words, expected|
          child = child(RbConfig.ruby, *words)
          assert_nil child.status
          child.run({})
          assert_equal expected, child.status
        end
      end

      def test_what_cannot_be_started_is_said
        err = StringIO.new
        without_interpreter = program("#!/no/such/interpreter\n", "script")
        File.chmod(0o755, without_interpreter)
        assert_equal([127, 127, 126], ["no-such-command", without_interpreter, @directory].map do |name|
          child = child(name, err: err)
          assert_nil child.run({}) { flunk "it runs" }
          child.status
        end)
        assert_match(/\Aheapline: no-such-command: command not found\n.*its interpreter.*\n.*is a directory\n\z/,
                     err.string)
      end

      def test_the_scratch_directory_goes
        path = Child.in_scratch("heapline-test") { |directory| FileUtils.rm_rf(directory) && directory }
        refute_path_exists path
      end
    end

    class ProgramTest < Minitest::Test
      def look(name, path = ENV.fetch("PATH"))
        program = Program.new(name, path)
        [program.problem, program.status]
      end

      def test_found_on_the_search_path
        assert_equal [nil, nil], look("sh")
        assert_match(%r{/sh\z}, Program.new("sh", ENV.fetch("PATH")).path)
      end

      def test_not_found
        assert_equal ["no-such-command: command not found", 127], look("no-such-command")
        assert_equal 127, look("./no-such-command").last
        assert_equal 127, look("sh", nil).last
      end

      def test_not_executable
        in_directory do |directory|
          File.write("#{directory}/text", "x")
          assert_equal 126, look("#{directory}/text").last
          assert_equal 126, look("text", directory).last
          assert_match(/is a directory/, look(directory).first)
        end
      end

      def test_what_changes_the_user_is_refused
        skip "only root can make a file that belongs to another user" unless Process.uid.zero?
        in_directory do |directory|
          File.write("#{directory}/sudo", "#!/bin/sh\n")
          File.chown(1, 1, "#{directory}/sudo")
          File.chmod(0o4755, "#{directory}/sudo")
          assert_match(/ignores LD_PRELOAD; put heapline after it/, look("#{directory}/sudo").first)
        end
      end
    end
  end
end
