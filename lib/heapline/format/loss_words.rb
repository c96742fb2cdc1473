# frozen_string_literal: true

require_relative "units"

module Heapline
  module Format
    # What is said of a search for lost blocks in words, by whatever shows it.
    module LossWords
      TITLES = { definite: "definitely lost", indirect: "indirectly lost", possible: "possibly lost",
                 reachable: "still reachable" }.freeze
      UNSEEN = "the registers of %d threads could not be read (ptrace is not permitted): what only a register points " \
               "to looks lost"

      module_function

      # One process (Model::Leaks::Search).
      def search(search)
        parts = ["#{Units.count(search.blocks)} live blocks, #{Units.bytes(search.bytes)}",
                 "paused #{milliseconds(search.pause)} after a GC of #{milliseconds(search.gc)}",
                 "searched in #{milliseconds(search.scan)}"]
        "process #{search.pid}: #{parts.join("; ")}"
      end

      # What is not shown, and why: Array of Strings.
      def dropped(leaks)
        leaks.dropped.map do |reason, (records, blocks, bytes)|
          "#{amount(bytes, blocks)} #{reason}, #{records} record#{"s" if records != 1}"
        end
      end

      # What makes the result uncertain: Array of Strings.
      def remarks(leaks)
        unseen = leaks.searches.sum(&:threads_without_registers)
        missed = leaks.searches.sum(&:blocks_missed)
        said = []
        said << format(UNSEEN, unseen) if unseen.positive?
        said << "#{missed} blocks found no room in the map" if missed.positive?
        said
      end

      # "600 B in 100 blocks"
      def amount(bytes, blocks)
        "#{Units.bytes(bytes)} in #{Units.count(blocks)} block#{"s" if blocks != 1}"
      end

      def milliseconds(seconds)
        format("%.1f ms", seconds * 1000)
      end
    end
  end
end
