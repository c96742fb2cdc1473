# frozen_string_literal: true

require "test_helper"
require "support/rendered_capture"
require "heapline/recording/html"
require "heapline/capture"
require "support/captures"
require "heapline/recording/model"

module Heapline
  class Recording
    # The page itself: test/browser/capture_test.rb.
    class HtmlTest < Minitest::Test
      include RenderedCapture

      def test_one_file_with_its_script_and_a_policy
        text = random(Html).first.force_encoding(Encoding::UTF_8)
        script = text[%r{<script>(.*?)</script>}m, 1]
        assert_includes text, "script-src 'sha256-#{Digest::SHA256.base64digest(script)}'"
        assert_equal File.read(File.join(Page::Document::ASSETS, "capture.js")), script
        assert_includes text, "<title>recording · ruby · heapline</title>"
      end

      def test_the_bundle_can_stand_between_its_tags
        refute_match(%r{</script}i, File.read(File.join(Page::Document::ASSETS, "capture.js")))
      end

      def test_hostile_and_empty
        text = hostile(Html)
        refute_match(/[\e\0]/, text)
        assert_equal 2, text.scan("</script>").size
        assert_includes empty(Html), '"cells":""'
      end

      def test_it_tells_how_far_it_is
        told = []
        random(Html, progress: ->(done, total) { told << [done, total] })
        told.each { |done, total| assert_operator done, :<=, total }
      end
    end

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

    class PageGcsTest < Minitest::Test
      def gc(generation, time, seconds, still)
        Collection.new(generation: generation, time: time, seconds: seconds, gc_seconds: still)
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
