# frozen_string_literal: true

require "test_helper"
require "heapline/format/capture/page_gcs"
require "heapline/model/capture"

module Heapline
  module Format
    module Capture
      class PageGcsTest < Minitest::Test
        def gc(generation, time, seconds, still)
          Model::Capture::Collection.new(generation: generation, time: time, seconds: seconds, gc_seconds: still)
        end

        def test_columns
          assert_equal({ first: [3, 4], last: [3, 4], time: [0.5, 1.0], until: [0.75, nil], still: [0.1, nil] },
                       PageGcs.of([gc(3, 0.5, 0.25, 0.1), gc(4, 1.0, nil, nil)]))
          assert_equal({ first: [], last: [], time: [], until: [], still: [] }, PageGcs.of([]))
        end

        def test_neighbours_together_where_there_are_many
          gcs = Array.new(5) { |at| gc(at + 1, at.to_f, 0.5, 0.1) }
          assert_equal({ first: [1, 3, 5], last: [2, 4, 5], time: [0.0, 2.0, 4.0], until: [1.5, 3.5, 4.5],
                         still: [0.2, 0.2, 0.1] }, PageGcs.of(gcs, most: 3))
        end
      end
    end
  end
end
