# frozen_string_literal: true

require "test_helper"
require "heapline/format/capture/timeline"
require "heapline/model/capture"

module Heapline
  module Format
    module Capture
      class TimelineTest < Minitest::Test
        def moment(time, most, **more)
          Model::Capture::Moment.new(time: time, seconds: 1.0, allocations: 1, bytes: 2, frees: 3, freed_bytes: 4,
                                     live_bytes: 5,
                                     most_bytes: most, collections: 6, **more)
        end

        def listing(moments)
          Timeline.sheet(moments, nil, "a.hlc", []).parts.first
        end

        def test_a_bar_for_what_was_live
          shown = listing([moment(0.0, 10), moment(1.0, 20)])
          assert_equal [15, 30], (shown.rows.map { |row| shown.label.call(row).text.length })
          assert_equal "1.000 s", shown.columns.first.text(shown.rows.last)
          assert_equal({ time: 1.0, seconds: 1.0 }, shown.data.call(shown.rows.last))
        end

        def test_curves_stand_above_and_gcs_below
          parts = Timeline.sheet([moment(0.0, 10)], nil, "a.hlc", [], curves: :curves, gcs: :gcs).parts
          assert_equal %i[curves moments gcs], (parts.map { |part| part.is_a?(Symbol) ? part : part.key })
        end

        def test_columns_for_what_was_sampled
          refute_includes listing([moment(0.0, 10)]).columns.map(&:key), :rss
          assert_includes listing([moment(0.0, 10), moment(1.0, 0, rss: 5)]).columns.map(&:key), :rss
        end

        def test_nothing_was_ever_live
          assert_empty listing([moment(0.0, 0)]).label.call(moment(0.0, 0)).text
        end
      end
    end
  end
end
