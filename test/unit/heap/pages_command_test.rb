# frozen_string_literal: true

require "test_helper"
require "json"
require "support/cli"
require "support/page_lines"
require "support/twin_answer"

module Heapline
  module Heap
    class PagesCommandTest < Minitest::Test
      include CliHelper
      include TwinAnswer

      def pages(*options)
        out, task = ask_twin("pages", *options, text: PAGE_LINES)
        assert_equal 3, task
        out
      end

      def test_text
        assert_match(/^  2 pages \(131\.07 kB\) less than 10 % live/, pages)
      end

      def test_json
        data = JSON.parse(pages("--json", "--below", "2"))
        assert_equal [5, 0.02], [data["pages"].size, data["sparse"]["below"]]
      end

      def test_rows
        assert_match(/^  2 more; all: --top 0$/, pages("--top", "1"))
      end

      def test_what_cannot_be_asked
        own_flight
        { "--below" => %w[0 51 x], "--top" => %w[-1 x], "--format" => %w[csv] }.each do |option, values|
          values.each do |value|
            result = heapline("pages", option, value, Process.pid.to_s)
            assert_equal [2, ""], [result.status, result.out], "#{option} #{value}"
          end
        end
      end

      def test_the_dead
        flight(pid: 4711)
        assert_match(/4711 is dead: it has no object heap any more/, heapline("pages", "4711").err)
      end
    end
  end
end
