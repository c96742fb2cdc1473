# frozen_string_literal: true

require "test_helper"
require "optparse"
require "heapline/recording/filter_options"

module Heapline
  class Recording
    class FilterOptionsTest < Minitest::Test
      def choose(*argv)
        options = { top: 3 }
        OptionParser.new { |parser| FilterOptions.define(parser, options) }.parse(argv)
        FilterOptions.of(options)
      end

      def test_what_is_chosen
        assert_equal({ from: 0, to: 90, thread: "main", tag: "a", mappings: true },
                     choose("--from", "0", "--to", "1.5m", "--thread", "main", "--tag", "a", "--mappings"))
        assert_empty choose
      end

      def test_lifespans
        { "0-1" => [0..1, false], "5-" => [5.., false], "3" => [3..3, false], "-2" => [0..2, false],
          "0.5-1.5s" => [0.5..1.5, true], "1-s" => [1.0.., true] }.each do |word, (range, in_seconds)|
          assert_equal({ lifespan: range, in_seconds: in_seconds }, choose("--lifespan=#{word}"), word)
        end
      end

      def test_what_is_none
        ["", "s", "-", "a-b", "2-1", "0.5-1", "1-2x"].each do |word|
          assert_raises(UsageError, word) { choose("--lifespan=#{word}") }
        end
        assert_raises(UsageError) { choose("--from", "x") }
      end

      def test_a_time_in_which_nothing_can_be
        [%w[--from 5 --to 1], %w[--from 5 --to 5], %w[--to 0]].each do |words|
          assert_match(/nothing is between them/, assert_raises(UsageError, words) { choose(*words) }.message)
        end
        assert_equal({ from: 1, to: 5 }, choose("--from", "1", "--to", "5"))
        assert_in_delta 0.2164872626, choose("--to", "0.2164872626").fetch(:to), 1e-12
      end
    end
  end
end
