# frozen_string_literal: true

require "test_helper"
require "heapline/model"
require "support/snapshots"
require "heapline/format/process_list"
require "heapline/web/process_page"

module Heapline
  module Web
    class ProcessPageTest < Minitest::Test
      include Snapshots

      Entry = Struct.new(:pid)

      def test_each_process_is_a_link
        row = Model::KnownProcess.new(entry: Entry.new(4711), snapshot: leaky.with(command: ["<ruby>"]))
        html = ProcessPage.render([row], base: "/h")
        assert_includes html, '<a href="/h/4711/">4711</a></td><td>exited</td><td>52.22 MB'
        assert_includes html, "&lt;ruby&gt;"
      end

      def test_what_cannot_be_read_says_why
        html = ProcessPage.render([Model::KnownProcess.new(entry: Entry.new(1), problem: "cut short")], base: "")
        assert_includes html, "<td>1</td><td>unreadable</td>"
        assert_includes html, "cut short"
      end
    end
  end
end
