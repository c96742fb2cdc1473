# frozen_string_literal: true

require "test_helper"
require "heapline/heap_dump/compiled"
require "support/code_lines"

module Heapline
  class HeapDump
    class CompiledTest < Minitest::Test
      # What a reader of dumps answers.
      Native = Struct.new(:notes, :code_rows, :problems, :totals, keyword_init: true)

      def native(notes, rows = [])
        Native.new(notes: notes, code_rows: rows, problems: ["cut"], totals: { pid: nil, ruby: nil })
      end

      def test_a_dump_by_heapline
        code = Compiled.new(native(CodeLines::TEXT), -> { flunk "no index is wanted" }).code
        assert_equal [4711, 6, ["cut"]], [code.pid, code.pieces.size, code.problems]
      end

      def test_any_other_dump
        asked = 0
        rows = [[16, "app.erb", "render", "render", 400, nil, nil, nil],
                [24, "app.erb", "block in render", "render", 300, "pages.rb", 12, 3],
                [32, "app.erb", "render", "render", 400, "pages.rb", 12, 4], [40, nil, nil, nil, 100, nil, nil, nil],
                [48, nil, nil, nil, 100, nil, nil, nil]]
        code = Compiled.new(native("", rows), -> { asked += 1 }).code
        assert_equal [1, [32], %i[lines malloc]], [asked, code.pieces.select(&:copy).map(&:address), code.lacking]
        assert_equal [["app.erb", 3], ["(not known)", 2]], (code.groups(:file).map { |group| group.to_a.first(2) })
        newest = code.groups(:site).to_h { |group| [group.key, group.newest] }
        assert_equal({ "pages.rb:12" => 4, "(not known)" => nil }, newest)
      end
    end
  end
end
