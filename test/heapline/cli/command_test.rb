# frozen_string_literal: true

require "test_helper"
require "support/cli"

module Heapline
  module CLI
    class CommandTest < Minitest::Test
      include CliHelper

      def test_every_command_has_a_summary_and_a_usage
        COMMANDS.each_key do |name|
          help = heapline("help", name)
          assert_equal 0, help.status
          assert_match(/\Ausage: heapline .*\n\n\w.*\.\n/, help.out, name)
        end
      end

      def test_wrong_options_are_status_2_and_name_the_help
        result = heapline("ps", "--nonsense")
        assert_equal [2, "heapline: invalid option: --nonsense (heapline help ps)\n"], [result.status, result.err]
      end

      def test_every_option_is_documented
        page = File.read(File.join(ROOT, "docs", "cli.md"))
        options = COMMANDS.keys.flat_map { |name| heapline("help", name).out.scan(/(?<=\s)--[a-z][\w-]*/) }.uniq
        assert_operator options.size, :>, 10
        assert_empty(options.reject { |option| page.include?(option) })
      end

      def test_a_broken_pipe_ends_quietly
        reader, writer = IO.pipe
        reader.close
        err = StringIO.new
        flight
        assert_equal 0, CLI.start(["ps"], env: environment, out: writer, err: err)
        assert_empty err.string
        writer.close
      end
    end
  end
end
