# frozen_string_literal: true

require_relative "../figures/units"

module Heapline
  module Leaks
    # What is said of a search for lost blocks in words, by whatever shows it.
    module LossWords
      TITLES = { definite: "definitely lost", indirect: "indirectly lost", possible: "possibly lost",
                 reachable: "still reachable" }.freeze
      UNSEEN = "the registers of %d threads could not be read (ptrace is not permitted): a block to which only a " \
               "register points looks lost"
      WHOLE = "stacks of fibers are searched as a whole: heapline does not know which parts are in use"

      module_function

      # One process (Leaks::Findings::Search).
      def search(search)
        collected = " after a GC of #{milliseconds(search.gc)}" if search.gc.positive?
        parts = ["#{Units.count(search.blocks)} live blocks, #{Units.bytes(search.bytes)}",
                 "paused #{milliseconds(search.pause)}#{collected}",
                 "searched in #{milliseconds(search.scan)}"]
        "process #{search.pid}: #{parts.join("; ")}"
      end

      # What is not shown, and why: Array of Strings.
      def dropped(leaks)
        leaks.dropped.map do |reason, (records, blocks, bytes)|
          "#{amount(bytes, blocks)} #{reason}, #{records} record#{"s" if records != 1}"
        end
      end

      # Libraries whose reachable memory grew by as much as they lost, or more: Array of Strings.
      def growths(leaks)
        grown = leaks.libraries.select { |sum| sum.reachable_bytes >= sum.bytes }
        grown.map do |sum|
          "#{File.basename(sum.path)} lost #{Units.bytes(sum.bytes)}; its reachable memory grew by " \
            "#{amount(sum.reachable_bytes, sum.reachable_blocks)} since (a pool may still hold what its owner lost)"
        end
      end

      # What makes the result uncertain: Array of Strings.
      def remarks(leaks)
        unseen = leaks.searches.sum(&:threads_without_registers)
        missed = leaks.searches.sum(&:blocks_missed)
        said = []
        said << format(UNSEEN, unseen) if unseen.positive?
        said << WHOLE if leaks.searches.any? { |search| search.fibers_unknown.to_i.positive? }
        said << "#{missed} blocks are not in the search: there was no room for them" if missed.positive?
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
