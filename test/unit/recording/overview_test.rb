# frozen_string_literal: true

require "test_helper"
require "heapline/capture"
require "heapline/recording/overview"
require "heapline/recording/text"
require "support/captures"

module Heapline
  class Recording
    class OverviewTest < Minitest::Test
      # The summary of a recording with known figures, as text.
      def text(**options)
        builder = Captures::Builder.new
        block = builder.birth(0, 1000, [["Cache#put", "/app/cache.rb", 7]], thread: "main", tag: "jobs")
        builder.mark(1_000_000, :gc_start)
        builder.birth(400_000_000, 4096, [], kind: :mmap)
        builder.birth(500_000_000, 3000, [["Cache#put", "/app/cache.rb", 8]], thread: "main")
        builder.end(1_000_000_000, block)
        Captures.file(builder.to_s) do |path|
          capture = Heapline::Capture.open(path)
          io = StringIO.new
          sheet = Overview.new(**options).sheet(capture.summary, "run.hlc", capture.problems)
          Text.new(env: { "COLUMNS" => "110" }).render(sheet, io)
          return io.string
        end
      end

      def test_all_that_a_summary_says
        shown = text(more: [["heapline report run.hlc --call-tree", "by which path?"]])
        ["run.hlc - ruby - pid 4711 - 1.0 s - exit 0 - ruby 3.4.1 - glibc 2.41 - 2023-11-14 22:13:20 UTC",
         "5 events, 5 a second - allocated 4.00 kB in 2 blocks", "peak 4.00 kB in 2 blocks at 0.5 s",
         "live at the end 3.00 kB in 1 block", "temporary 1.00 kB in 1 block (25.0 %) - 1 GC"].each do |words|
          assert_includes shown.gsub(/\n\s+/, " - "), words
        end
        ["2  4.00 kB  100.0 %  malloc", "1  1.00 kB        -  free", "1  4.10 kB  100.0 %  mmap",
         "3.00 kB  3.00 kB    3.00 kB       1        0 B  Cache#put  /app/cache.rb:8",
         "main", "jobs", "(no tag)", "512 B to 1.02 kB       ####", "1 GC "].each do |words|
          assert_includes shown,
                          words
        end
        assert_match(/^  next\n    heapline report run.hlc --call-tree   by which path\?$/, shown)
      end

      def test_so_many_rows_as_are_asked_for
        assert_includes text(top: 1), "1 more; all: --top 0"
        refute_includes text(top: 0), "more; all"
      end
    end
  end
end
