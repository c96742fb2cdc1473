# frozen_string_literal: true

require "test_helper"
require "heapline/heap/code"

module Heapline
  module Heap
    class CodePieceTest < Minitest::Test
      def piece(**fields)
        CodePiece.new(path: "a.rb", label: "open", method_name: "open", **fields)
      end

      def test_the_place_of_code
        assert_equal ["a.rb", 3, 4, "open"], piece(line: 3, column: 4).place
        assert_equal ["a.rb", nil, nil, "open"], piece.place
      end

      def test_where_no_line_tells_blocks_apart_there_is_no_place
        assert_nil piece(label: "block in open").place
        assert_nil piece(path: nil).place
        refute_nil piece(label: "block in open", line: 3, column: 4).place
      end
    end

    class CodeGroupTest < Minitest::Test
      def piece(address, copy: false, **fields)
        CodePiece.new(address: address, bytes: 100, copy: copy, **fields)
      end

      def test_what_is_not_known
        group = CodeGroup.of("a.rb", [piece(1), piece(2)], [nil, nil])
        assert_equal [2, 200, 0], group.to_h.values_at(:count, :bytes, :copies)
        assert_equal [nil, nil, nil], group.to_h.values_at(:unreached, :newest, :live_bytes)
      end

      def test_the_example_is_the_oldest_copy_that_a_method_leads_to
        pieces = [piece(1, generation: 1, reached: true), piece(2, copy: true, generation: 2, reached: false),
                  *[3, 4].map { |number| piece(number, copy: true, generation: number, reached: true) }]
        assert_equal 3, CodeGroup.of("a.rb", pieces, [nil, nil]).example
        assert_equal 2, CodeGroup.of("a.rb", pieces.first(2), [nil, nil]).example
        assert_equal 1, CodeGroup.of("a.rb", pieces.first(1), [nil, nil]).example
      end

      def test_what_no_method_leads_to
        assert_equal 1, CodeGroup.of("a.rb", [piece(1, reached: true), piece(2, reached: false)], [0, 0]).unreached
      end
    end
  end
end
