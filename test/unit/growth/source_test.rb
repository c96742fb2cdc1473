# frozen_string_literal: true

require "test_helper"
require "stringio"
require "zlib"
require "heapline/growth_reader"

module Heapline
  class GrowthReader
    class SourceTest < Minitest::Test
      include OwnDirectory

      FIRST = "{\"time\":\"2026-03-01T09:00:00.000Z\"}\n"
      LAST = "{\"time\" : \"2026-03-01T11:00:00.500+01:00\"}\n"

      def source(name, bytes)
        File.binwrite(File.join(@directory, name), bytes)
        Source.new(File.join(@directory, name))
      end

      def test_times
        first = Time.utc(2026, 3, 1, 9).to_f * 1000
        [["a.jsonl", FIRST + LAST], ["a.gz", Zlib.gzip(FIRST + LAST)]].each do |name, bytes|
          assert_equal [first, first + 3_600_500], [source(name, bytes).first_time, source(name, bytes).last_time]
        end
        assert_equal [Float::INFINITY, nil], [source("x", "none").first_time, source("x", "none").last_time]
      end

      def test_members_of_a_compressed_file
        packed = Zlib.gzip("one\n") + Zlib.gzip("two\n")
        assert_equal("one\ntwo\n", source("a.gz", packed).open { |input| input.all(100) })
      end

      def test_names
        source("b.jsonl", "")
        source("a.log.1", "")
        source("a-20260101.jsonl-20260102.gz", "")
        source("c.rb", "")
        assert_equal(%w[a-20260101.jsonl-20260102.gz a.log.1 b.jsonl],
                     Source.all([@directory], nil).map { |one| File.basename(one.name) })
        assert_equal 1, Source.all([File.join(@directory, "b.*"), File.join(@directory, "b.jsonl")], nil).size
        assert_equal ["standard input"], Source.all(["-"], StringIO.new).map(&:name)
      end

      def test_what_was_before_it_belongs_to_a_log
        log, before, other = %w[a.jsonl a.jsonl.1 b.jsonl].map { |name| source(name, "").name }
        assert_equal [before, log, other], Source.all([log, before, other], nil).map(&:name)
      end

      def test_of_a_pattern_too
        source("c.jsonl", "")
        %w[a.jsonl a.jsonl.1 b.jsonl.1].each { |name| source(name, "") }
        Dir.mkdir(File.join(@directory, "d.jsonl"))
        assert_equal(%w[a.jsonl.1 a.jsonl b.jsonl.1 c.jsonl],
                     Source.all([File.join(@directory, "*.jsonl")], nil).map { |one| File.basename(one.name) })
      end

      # The log has been renamed, and its next line is still to come.
      def test_what_was_before_it_stands_alone
        before = source("a.jsonl.1", FIRST).name
        assert_equal [before], Source.all([before.delete_suffix(".1")], nil).map(&:name)
      end

      def test_standard_input_has_no_size
        input = Source.all(["-"], StringIO.new("x")).first
        assert_equal [nil, Float::INFINITY], [input.size, input.first_time]
        input.open { |bytes| assert_equal ["x", 1, nil], [bytes.all(100), bytes.position, bytes.size] }
      end
    end
  end
end
