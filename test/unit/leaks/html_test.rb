# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"
require "stringio"
require "heapline/leaks/html"

module Heapline
  module Leaks
    class HtmlTest < Minitest::Test
      include LeakReports

      def data(*records, kinds: %i[definite possible], **more)
        PageData.new(kinds: kinds).of(leaks(records.flatten, **more))
      end

      def test_records_are_columns_over_strings_and_frames
        libc = frame(function: "strdup", path: "/lib/libc.so.6", file: nil, line: nil)
        found = data(record(frames: [libc, frame]), record(kind: :possible, bytes: 9, frames: [frame]))
        records = found[:records]
        text = ->(column, index) { found[:strings][column[index]] }
        assert_equal [[0, 2], [80, 9]], records.values_at(:kind, :bytes)
        assert_equal(["/a/app.rb:3", "leak", "libfoo.so"],
                     %i[place culprit owner].map { |name| text.call(records[name], 0) })
        assert_equal [[0, 1], [1]], records[:frames]
        assert_equal(%w[strdup leak], [0, 1].map { |at| text.call(found[:frames][:name], at) })
        assert_equal(["", "foo.c:12"], [0, 1].map { |at| text.call(found[:frames][:place], at) })
      end

      def test_lines_of_ruby_follow_the_c_functions
        places = Array.new(PageData::RUBY_FRAMES + 1) do |i|
          Places::Location.new(path: "a.rb", lineno: i + 1, label: "go")
        end
        found = data(record(ruby_frames: places))
        assert_equal PageData::RUBY_FRAMES + 1, found[:records][:frames].first.size
        text = ->(column) { found[:strings][found[:frames][column][1]] }
        assert_equal ["go", "a.rb:1", ""], %i[name place library].map(&text)
      end

      def test_other_kinds_are_left_out
        assert_equal [0], data(record, record(kind: :reachable))[:records][:kind]
      end

      def test_words_around_them
        found = data(record, dropped: { "of the Ruby VM itself" => [3, 4, 72] })
        assert_equal ["definitely lost", "80 B", "2 blocks"], found[:tiles].first
        assert_equal ["72 B in 4 blocks of the Ruby VM itself, 3 records"], found[:dropped]
        assert_match(/process 42: 1,000 live blocks/, found[:facts].first)
      end

      def test_it_is_bounded
        found = data(Array.new(PageData::RECORDS + 5) { record })
        assert_equal [PageData::RECORDS, 5], [found[:records][:kind].size, found[:left_out]]
      end

      def test_names_are_inert
        found = data(record(frames: [frame(function: "a\e[31m\u202E")], path: "b\0.rb"))
        refute_match(/[\e\0\u202E]/, found[:strings].join)
      end

      def page(leaks, **options)
        io = StringIO.new
        Html.new(**options).render(leaks, io)
        io.string
      end

      def test_one_file_with_its_script_and_a_policy
        text = page(leaks)
        script = text[%r{<script>(.*?)</script>}m, 1]
        assert_includes text, "script-src 'sha256-#{Digest::SHA256.base64digest(script)}'"
        assert_equal File.read(File.join(Page::Document::ASSETS, "leaks.js")), script
        assert_includes text, "<title>lost blocks · pid 42 · heapline</title>"
      end

      def test_the_bundle_can_stand_between_its_tags
        refute_match(%r{</script}i, File.read(File.join(Page::Document::ASSETS, "leaks.js")))
      end

      def test_nothing_in_it_ends_the_block
        text = page(leaks([record(path: "</script><script>alert(1)</script>.rb")]))
        assert_equal 2, text.scan("</script>").size
      end
    end
  end
end
