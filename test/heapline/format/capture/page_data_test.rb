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

        def test_words_and_gcs
          found, summary = data(Captures.random(4, 900), metric: :live)
          assert_equal [:live, "ruby", VERSION], found.values_at(:metric, :command, :version)
          assert_equal ["pid 4711", "Ruby 3.4.1", "glibc 2.41", "ended: exit 0"], found[:facts].first(4)
          assert_equal summary.collections, found[:gcs][:time].size
          assert_equal [:blocks], (found[:views].map { |view| view[:kind] })
          assert_empty found[:notes]
        end

        def test_what_was_chosen
          Captures.file(Captures.random(4, 900).to_s) do |path|
            capture = Heapline::Capture.open(path, from: 0.1, thread: "main")
            found = PageData.new(metric: :peak, source: false, progress: nil).of(capture)
            assert_equal "only: born from 0.1 s, thread main", found[:facts].last
          end
        end

        def test_a_view_of_the_objects_too
          builder = Captures.random(4, 200)
          builder.object(builder.events.last.time, 40, "Foo", [["m", "a.rb", 1]])
          found, = data(builder)
          assert_equal %i[blocks objects], (found[:views].map { |view| view[:kind] })
          names = found[:views].map { |view| view[:frames][:name].map { |number| found[:strings][number] } }
          assert_equal [false, true], (names.map { |all| all.include?("Foo") })
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
