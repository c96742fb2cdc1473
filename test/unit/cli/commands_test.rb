# frozen_string_literal: true

require "test_helper"
require "open3"
require "heapline/version"
require "support/cli"

module Heapline
  module CLI
    class HelpCommandTest < Minitest::Test
      include CliHelper

      def test_lists_every_command
        [["help"], ["--help"], ["-h"]].each do |words|
          result = heapline(*words)
          assert_equal 0, result.status
          COMMANDS.keys.grep_v(/ /).each { |name| assert_match(/^  heapline #{name} +\w/, result.out) }
        end
      end

      def test_each_command_has_one_purpose
        assert_equal COMMANDS.keys.grep_v(/ /).sort, PURPOSES.values.flatten.sort
        assert_match(/^Explain RSS:\n  heapline rss /, heapline("help").out)
      end

      def test_alone_it_says_a_first_step
        result = heapline
        assert_equal [0, HelpCommand::START], result.to_a.first(2)
        assert_operator result.out.lines.size, :<=, 6
      end

      # groff has nothing to say against it, and each command and option is there.
      def test_the_manual_page
        page = heapline("help", "--man").out
        shown, warned, = Open3.capture3(*%w[groff -man -ww -Tutf8 -P-c -Kutf8 -rLL=200n], stdin_data: page)
        shown.gsub!(/.\x08/, "") # bold is typed twice
        assert_empty warned
        COMMANDS.each_key do |name|
          assert shown.match?(/^ +heapline #{name}$/), name
          CLI.command(name).new.parser.top.list.grep(OptionParser::Switch).each do |option|
            assert shown.include?(option.long.first.to_s), "#{name} #{option.long.first}"
          end
        end
        assert shown.match?(/^NAME\n +heapline - tell which line of Ruby holds the memory$/)
        assert shown.include?("replay [options] CAPTURE | PLAN\n")
      rescue Errno::ENOENT
        skip "groff is not there"
      end

      def test_commands_of_two_words
        assert_match(/no such command: ps all;/, heapline("help", "ps", "all").err)
      end

      def test_an_unknown_command
        result = heapline("help", "me")
        assert_equal [2, "heapline: no such command: me; there are #{COMMANDS.keys.join(", ")} (heapline help)\n"],
                     [result.status, result.err]
      end
    end

    class HeapCommandTest < Minitest::Test
      include CliHelper

      def test_lists_its_commands
        [%w[heap], %w[heap --help], %w[help heap]].each do |words|
          result = heapline(*words)
          assert_equal 0, result.status
          COMMANDS.keys.grep(/\Aheap /).each { |name| assert_match(/^  heapline #{name} +\w/, result.out) }
        end
      end

      def test_help_of_one
        assert_match(/\Ausage: heapline heap histo /, heapline("help", "heap", "histo").out)
      end

      def test_what_is_none
        result = heapline("heap", "nonsense")
        assert_equal 2, result.status
        assert_match(/no such command: heap nonsense; there are heap dump, .*\(heapline help heap\)$/, result.err)
      end
    end

    class VersionCommandTest < Minitest::Test
      include CliHelper

      def test_prints_the_version
        %w[version --version -v].each do |word|
          assert_equal [0, "heapline #{VERSION}\n"], heapline(word).to_a.first(2)
        end
      end
    end
  end
end
