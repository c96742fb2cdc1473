# frozen_string_literal: true

require "test_helper"
require "heapline/recording/sheet"
require "heapline/recording/text"
require "heapline/recording/model"

module Heapline
  class Recording
    class TextTest < Minitest::Test
      def render(problems: [], **fields)
        summary = Summary.new(command: ["ruby", "\e[31m"], pid: 5, seconds: 2.0,
                              started_at: Time.at(0), **fields)
        sheet = Sheet.of("report", [["a.hlc", summary]], [], problems)
        io = StringIO.new
        Text.new(env: {}).render(sheet, io)
        io.string
      end

      def test_what_was_recorded_in_one_line
        assert_equal "heapline report\n  a.hlc - ruby \\x1B[31m - pid 5 - 2.0 s - exit 3\n", render(ending: "exit 3")
        assert_includes render, "cut short"
      end

      def test_with_which_options
        assert_includes render(options: ["native", "\e[31m"]), " - recorded with --native --\\x1B[31m\n"
        refute_includes render(options: []), "recorded with"
      end

      def test_what_was_chosen_stands_at_the_head
        assert_equal "heapline report - thread \\x1B[31m - until 2 s\n",
                     render(chosen: ["thread \e[31m", "until 2 s"]).lines.first
      end

      def test_what_could_not_be_read
        assert_includes render(problems: ["5 events were lost"]), "    5 events were lost\n"
      end
    end
  end
end
