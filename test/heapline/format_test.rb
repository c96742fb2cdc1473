# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/snapshots"
require "heapline/format"

module Heapline
  class FormatTest < Minitest::Test
    include Snapshots

    def test_every_format_renders_a_snapshot
      Format::NAMES.each_key do |name|
        io = StringIO.new(String.new(encoding: Encoding::BINARY))
        Format.fetch(name).new.render(leaky, io)
        refute_empty io.string, name
      end
    end

    def test_an_unknown_format_names_those_that_there_are
      error = assert_raises(UsageError) { Format.fetch("yaml") }
      assert_match(/no such format: yaml; there are text, json, /, error.message)
    end

    def test_the_end_of_a_file_name_says_its_format
      formats = %w[r.pb.gz r.pprof r.csv r.speedscope.json r.json r.folded r.prom r.txt report].map do |name|
        Format.of_file(name)
      end
      assert_equal %w[pprof pprof csv speedscope json collapsed prometheus text text], formats
      assert_equal %w[text svg html], [Format.of_file("r.svg"), Format.of_file("r.svg", pictures: true),
                                       Format.of_file("r.html", pictures: true)]
    end
  end
end
