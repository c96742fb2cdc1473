# frozen_string_literal: true

require "test_helper"
require "heapline/format/capture/gcs"
require "heapline/model/capture"

module Heapline
  module Format
    module Capture
      class GcsTest < Minitest::Test
        def gcs(*pauses)
          pauses.map.with_index do |seconds, at|
            Model::Capture::Collection.new(generation: at + 1, time: at.to_f, seconds: 0.5, gc_seconds: seconds)
          end
        end

        def generations(listing)
          listing.rows.map(&:generation)
        end

        def test_all_in_their_order
          listing = Gcs.listing(gcs(0.1, 0.3, 0.2))
          assert_equal [[1, 2, 3], 3], [generations(listing), listing.total]
          assert_equal %i[time seconds gc_seconds], listing.columns.map(&:key)
          assert_equal({ generation: 2, line: nil, label: nil }, listing.data.call(listing.rows[1]))
        end

        def test_what_ran_into_it
          frame = Model::Capture::Frame.new(label: "Shop#load", path: "/a/shop.rb", lineno: 7)
          gc = Model::Capture::Collection.new(generation: 1234, time: 0.0, frame: frame)
          listing = Gcs.listing([gc])
          assert_equal({ generation: 1234, line: "/a/shop.rb:7", label: "Shop#load" }, listing.data.call(gc))
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
end
