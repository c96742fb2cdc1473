# frozen_string_literal: true

require "test_helper"
require "heapline/cli"
require "heapline/accounting/run_options"

module Heapline
  module Accounting
    class RunOptionsTest < Minitest::Test
      def test_from_the_environment
        assert_equal({ quiet: true, top: 5, sort: :retained, min: 10_000, output: "/tmp/a:b,c%.txt" },
                     RunOptions.from_env("quiet,top:5,sort:retained,min:10k,output:/tmp/a:b%2Cc%25.txt"))
        assert_equal({}, RunOptions.from_env(nil))
        assert_equal({ log: "/100%/%%q-%p", sites: 64 }, RunOptions.from_env("log:/100%/%25%25q-%p,sites:64"))
        assert_equal({ keep: true }, RunOptions.from_env(",keep,"))
      end

      def test_there_and_back
        options = { quiet: true, output: "/tmp/a,b%2C:c", top: 0, sort: :life, min: 12 }
        assert_equal options, RunOptions.from_env(RunOptions.to_env(options))
      end

      def test_the_help_names_all_sort_keys
        assert_equal "sort by #{RunOptions.sort_keys.join(", ")}", RunOptions::KEYS.fetch(:sort).help
      end

      def test_unknown_keys_name_the_known_ones
        error = assert_raises(UsageError) { RunOptions.from_env("quite") }
        assert_match(/no such key: "quite"; it knows quiet, output, top/, error.message)
      end

      def test_wrong_values
        { "top:x" => /\AHEAPLINE: top: not a number: "x"\z/, "sort:size" => /no such sort key.*growth/,
          "min:1T" => /not a size/, "quiet:yes" => /takes no value/, "output" => /needs a value/,
          "top:" => /needs a value/, "off:1" => /off takes no value/, "off:" => /off takes no value/,
          "sites:1" => /sites takes 64 to 1048576, not 1\z/, "sites:99999999" => /not 99999999\z/,
          "log:/x%q" => /log: %q stands for nothing: %p is the pid/ }
          .each do |text, message|
          error = assert_raises(UsageError) { RunOptions.from_env(text) }
          assert_match(/\AHEAPLINE: /, error.message)
          assert_match message, error.message
        end
      end
    end
  end
end
