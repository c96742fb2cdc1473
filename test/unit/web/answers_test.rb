# frozen_string_literal: true

require "test_helper"
require "json"
require "support/object_snapshots"
require "heapline/web/router"

module Heapline
  module Web
    class AnswersTest < Minitest::Test
      include ObjectSnapshots

      # One process, 4711, whose figures change with each look.
      class Fake
        def initialize(*snapshots, default: 4711)
          @snapshots = snapshots
          @default = default
        end

        attr_reader :default

        def root = 4711
        def rows = []
        def place = "/flights"
        def snapshot(*, **) = @snapshots.size > 1 ? @snapshots.shift : @snapshots.first
        def tree(_pid) = snapshot(4711).with(pid: 1)
        def running(*, **) = @snapshots
      end

      def test_the_lines_as_text_html_json_csv
        { "" => "text/plain", "txt" => "text/plain", "html" => "text/html", "json" => "application/json",
          "csv" => "text/csv" }.each do |ending, type|
          response = ask { |answers| answers.each(format: ending.empty? ? nil : ending) }
          assert_equal type, response.headers["content-type"][/[^;]+/]
          assert_includes response.body, "leak.rb:12"
        end
      end

      def test_the_header_accept_chooses
        { "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" => "text/html", "application/json" => "application/json",
          "text/csv" => "text/csv", "*/*" => "text/plain", "image/png" => "text/plain",
          "\xFF" => "text/plain" }.each do |accept, type|
          response = ask(accept: accept, &:each)
          assert_equal type, response.headers["content-type"][/[^;]+/], accept.inspect
        end
      end

      def test_an_unknown_ending_is_missing
        assert_raises(Missing) { ask { |answers| answers.each(format: "xml") } }
      end

      def test_the_report_is_a_page_for_browsers
        page = ask(accept: "text/html", &:index)
        assert_equal "frame-ancestors 'none'", page.headers["content-security-policy"]
        assert_includes page.body, '<meta http-equiv="Content-Security-Policy"'
        assert_includes page.body, "leak.rb"
        assert_equal "text/plain; charset=utf-8", ask(&:index).headers["content-type"]
      end

      def test_the_query_selects
        sites = ask(query: "top=1&sort=frees") { |answers| JSON.parse(answers.each(format: "json").body)["sites"] }
        assert_equal ["/app/lib/cache.rb:88"], (sites.map { |site| site["location"] })
        gems = ask(query: "by=library") { |answers| JSON.parse(answers.each(format: "json").body)["groups"] }
        assert_equal [nil, "libxml2.so.2"], (gems.map { |group| group["library"] })
      end

      # Who reads over HTTP has a URL and no command line.
      def test_what_shows_all_rows_is_a_query
        body = ask(query: "top=1", of: Fake.new(leaky_objects)) { |answers| answers.each(format: "txt") }.body
        assert_equal [2, 0], [body.scan(/, 1 shown; all: \?top=0$/).size, body.scan("--top").size], body
      end

      def test_one_location_however_it_is_written
        ["/app/leak.rb:12", "%2Fapp%2Fleak.rb:12", "app/leak.rb:12"].each do |location|
          body = ask(accept: "application/json") { |answers| answers.at(location: location) }.body
          assert_equal ["/app/leak.rb:12"], (JSON.parse(body)["sites"].map { |site| site["location"] })
        end
        ["leak.rb:12", "/app/leak.rb:1", "\xFF"].each do |location|
          assert_raises(Missing) { ask { |answers| answers.at(location: location) } }
        end
      end

      def test_objects_of_one_location
        body = ask(accept: "application/json", of: Fake.new(leaky_objects)) do |answers|
          answers.at(location: "/app/lib/cache.rb:88")
        end.body
        assert_equal ["Cache::Entry"], (JSON.parse(body)["objects"]["sites"].map { |row| row["class"] })
      end

      def test_metrics_name_each_process
        both = Fake.new(leaky, leaky.with(pid: 4712))
        body = Answers.new(both, Request.new(verb: "GET", path: "/metrics")).metrics.body
        assert_includes body, 'heapline_live_bytes{pid="4711"} 52220000'
        assert_includes body, 'heapline_live_bytes{pid="4712"} 52220000'
        assert_equal 1, body.scan("# TYPE heapline_live_bytes gauge").size
      end

      def test_pprof_shows_what_lives_or_what_was_allocated_first
        types = [ask(&:heap), ask(&:allocs)].map { |response| default_type(response) }
        assert_equal %w[inuse_space alloc_space], types
      end

      def test_a_difference_takes_its_time
        before = leaky.with(taken_at: Time.at(100))
        more = site("/app/leak.rb", 12, label: "Object#leak_memory", live_bytes: 51_200_777, live_blocks: 50_001)
        later = ask(query: "seconds=7", of: Fake.new(before, snapshot(more, taken_at: Time.at(107))), &:delta_heap)
        assert_equal 7, later.seconds
        bytes = later.take { true }.body
        assert_includes inflate(bytes), "leak.rb"
        ["", "seconds=0", "seconds=301", "seconds=x"].each do |query|
          assert_raises(UsageError) { ask(query: query, &:delta_heap) }
        end
      end

      def test_without_a_process_there_is_the_list
        nobody = Fake.new(leaky, default: nil)
        assert_includes ask(of: nobody, &:index).body, "no process is counted"
        assert_raises(UsageError) { ask(of: nobody, &:each) }
      end

      def test_a_tree_is_asked_for_as_such
        request = Request.new(verb: "GET", path: "/")
        body = Answers.new(Fake.new(leaky), request, tree: true).each(format: "json").body
        assert_equal 1, JSON.parse(body)["process"]["pid"]
      end

      private

      def ask(query: "", accept: "", of: Fake.new(leaky))
        request = Request.new(verb: "GET", path: "/", query: query, accept: accept)
        yield Answers.new(of, request)
      end

      def inflate(bytes)
        Zlib.gunzip(bytes)
      end

      # Field 14 of the profile, the number of a string; the strings are field 6.
      def default_type(response)
        bytes = inflate(response.body)
        strings = []
        found = nil
        at = 0
        while at < bytes.bytesize
          key, at = varint(bytes, at)
          value, at = varint(bytes, at)
          found = value if key == (14 << 3)
          next unless key & 7 == 2

          strings << bytes[at, value] if key >> 3 == 6
          at += value
        end
        strings[found]
      end

      def varint(bytes, at)
        value = shift = 0
        loop do
          byte = bytes.getbyte(at)
          at += 1
          value |= (byte & 127) << shift
          shift += 7
          return [value, at] if byte < 128
        end
      end
    end
  end
end
