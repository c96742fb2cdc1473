# frozen_string_literal: true

require "test_helper"
require "heapline/cli"
require "heapline/cli/program"

module Heapline
  module CLI
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
          assert_match(/ignores LD_PRELOAD; put heapline behind it/, look("#{directory}/sudo").first)
        end
      end
    end
  end
end
