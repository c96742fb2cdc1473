# frozen_string_literal: true

require "test_helper"
require "heapline/model/code_piece"

module Heapline
  module Model
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
  end
end
