# frozen_string_literal: true

require "test_helper"
require "heapline/recording/timeline"
require "heapline/recording/model"

module Heapline
  class Recording
    class TimelineTest < Minitest::Test
      SUMMARY = Summary.new(command: [], seconds: 0).freeze

      def moment(time, most, **more)
        Moment.new(time: time, seconds: 1.0, allocations: 1, bytes_allocated: 2, frees: 3, bytes_freed: 4,
                   live_bytes: 5,
                   most_bytes: most, collections: 6, **more)
      end

      def listing(moments)
        Timeline.sheet(moments, SUMMARY, "a.hlc", []).parts.first
      end

      def test_a_bar_for_what_was_live
        shown = listing([moment(0.0, 10), moment(1.0, 20)])
        assert_equal [15, 30], (shown.rows.map { |row| shown.label.call(row).text.length })
        assert_equal "1.000 s", shown.columns.first.text(shown.rows.last)
        assert_equal({ time: 1.0, seconds: 1.0 }, shown.data.call(shown.rows.last))
      end

      def test_curves_stand_above_and_gcs_below
        parts = Timeline.sheet([moment(0.0, 10)], SUMMARY, "a.hlc", [], curves: :curves, gcs: :gcs).parts
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

    class GcsTest < Minitest::Test
      def gcs(*pauses)
        pauses.map.with_index do |seconds, at|
          Collection.new(generation: at + 1, time: at.to_f, seconds: 0.5, gc_seconds: seconds)
        end
      end

      def generations(listing)
        listing.rows.map(&:generation)
      end

      def test_all_in_their_order
        listing = Gcs.listing(gcs(0.1, 0.3, 0.2))
        assert_equal [[1, 2, 3], 3], [generations(listing), listing.total]
        assert_equal %i[time seconds gc_seconds], listing.columns.map(&:key)
        assert_equal({ generation: 2, location: nil, label: nil }, listing.data.call(listing.rows[1]))
      end

      def test_what_ran_into_it
        frame = Frame.new(label: "Shop#load", path: "/a/shop.rb", lineno: 7)
        gc = Collection.new(generation: 1234, time: 0.0, frame: frame)
        listing = Gcs.listing([gc])
        assert_equal({ generation: 1234, location: "/a/shop.rb:7", label: "Shop#load" }, listing.data.call(gc))
        assert_equal ["1,234", "/a/shop.rb:7"], listing.label.call(gc).to_a.first(2)
      end

      def test_the_longest_first
        assert_equal [2, 3], generations(Gcs.listing(gcs(0.1, 0.3, 0.2), top: 2))
      end

      def test_what_is_not_known
        assert_empty Gcs.listing([]).rows
        assert_nil Gcs.listing([], top: 5)
        assert_nil Gcs.listing(gcs(nil, nil), top: 5)
        assert_equal [nil, nil], Gcs.listing(gcs(nil, nil)).rows.map(&:gc_seconds)
      end
    end
  end
end

module Heapline
  class Recording
    class SecondsTest < Minitest::Test
      def test_to_the_millisecond
        column = Figures::Columns::Column.new(key: :time, title: "from", figure: :itself, unit: :seconds)
        assert_equal ["0.000 s", "12.346 s", "-"], ([0, 12.34567, nil].map { |seconds| column.text(seconds) })
      end
    end
  end
end
