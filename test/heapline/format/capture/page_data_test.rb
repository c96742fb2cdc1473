# frozen_string_literal: true

require "test_helper"
require "heapline/capture"
require "support/captures"
require "heapline/format/capture/page_data"

module Heapline
  module Format
    module Capture
      class PageDataTest < Minitest::Test
        def data(builder, metric: :peak, source: true)
          Captures.file(builder.to_s) do |path|
            capture = Heapline::Capture.open(path)
            return [PageData.new(metric: metric, source: source, progress: nil).of(capture), capture.summary]
          end
        end

        def test_words_figures_and_the_plot
          found, summary = data(Captures.random(4, 900), metric: :live)
          assert_equal [:live, "ruby", VERSION], found.values_at(:metric, :command, :version)
          assert_equal ["pid 4711", "Ruby 3.4.1", "glibc 2.41", "ended: exit 0"], found[:facts].first(4)
          assert_equal ["at peak", Units.bytes(summary.sums.peak_bytes), "after #{Units.duration(summary.peak_at)}"],
                       found[:tiles].first
          plot = found[:plot]
          assert_equal summary.peak_at, plot[:peak_at]
          assert_equal summary.sums.peak_bytes, plot[:most_bytes].max
          assert_equal summary.collections, plot[:collections].sum
          assert_operator plot[:time].size, :<=, PageData::POINTS
          assert_equal 1, plot.except(:peak_at, :step).values.map(&:size).uniq.size
        end

        def test_the_parts_refer_to_each_other
          found, = data(Captures.random(4, 900))
          rows, nodes = found.values_at(:rows, :nodes)
          assert_operator rows[:node].max, :<, nodes[:parent].size
          assert_operator nodes[:frame].max, :<, found[:frames][:name].size
          assert_operator found[:frames][:name].max, :<, found[:strings].size
          assert_equal [nil, "main", "worker"], found[:threads]
          assert_equal [nil, "a", "b"], found[:tags]
          refute_empty found[:cells].unpack1("m0")
          assert_empty found[:notes]
        end

        def test_what_is_missing_is_told
          builder = Captures.random(4, 50)
          builder.mark(builder.events.last.time, :lost, 3)
          assert_match(/3 events were lost/, data(builder).first[:notes].first)
        end
      end
    end
  end
end
