# frozen_string_literal: true

module Heapline
  module Format
    class Screen
      # The keys.
      module Help
        COMMON = [
          ["up down", "choose a row; also j k PgUp PgDn Home End"],
          ["Enter Esc", "look into the row; go back"],
          ["/", "filter: only rows that contain a text"],
          ["space", "pause, go on"],
          ["b", "growth counts from now on"],
          ["B", "growth counts from the process's own baseline again"],
          ["q", "quit"]
        ].freeze
        SITES = [
          ["g l n r", "sort by growth, live, net change (live/s), alloc rate"],
          ["c t a", "sort by count of blocks, temporary share, age (life)"],
          ["1 2 3 4 5", "by line, gem, file, library, tag"],
          ["o", "Ruby objects by class; again: memory by line"],
          ["m", "with or without the processes that were forked from it"]
        ].freeze
        PROCESSES = [
          ["p s g", "sort by pid, size (RSS), growth"],
          ["l n r", "sort by live, net change (live/s), alloc rate"]
        ].freeze

        TERMS = [
          "Rates are over the last 5 to 10 seconds. live/s is the part of alloc/s that",
          "stays. temp: how many of the freed blocks died within two GC generations.",
          "Any key goes back."
        ].freeze

        # page: of the View.
        def self.lines(page, terminal)
          keys = (page == :processes ? PROCESSES : SITES) + COMMON
          width = keys.map { |names, _| names.length }.max
          keys = keys.map { |names, what| "  #{terminal.style(names.ljust(width), :bold)}  #{what}" }
          [*keys, "", *TERMS.map { |line| "  #{line}" }]
        end
      end
    end
  end
end
