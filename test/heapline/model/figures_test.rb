# frozen_string_literal: true

require "test_helper"
require "heapline/model/figures"

module Heapline
  module Model
    class FiguresTest < Minitest::Test
      def test_the_object_heap_is_its_pages
        figures = Figures.new(objects_at: Time.now, heap_pages: 10, heap_page_bytes: 65_536)
        assert_equal 655_360, figures.heap_bytes
        assert_predicate figures, :frozen?
      end

      def test_what_nobody_asked_is_not_known
        assert_nil Figures::NONE.heap_bytes
        assert_empty Figures::NONE.arenas
      end
    end
  end
end
