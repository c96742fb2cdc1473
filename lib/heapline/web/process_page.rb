# frozen_string_literal: true

require_relative "../format/units"
require_relative "page"

module Heapline
  module Web
    # The processes that may be looked at, each a link to its own figures.
    module ProcessPage
      TITLES = %w[pid state live growth RSS command].freeze

      class << self
        # rows: Array of Model::KnownProcess; base: what links begin with. HTML.
        def render(rows, base:)
          lines = rows.map { |row| row.snapshot ? process(row, base) : problem(row) }
          Page.document("Processes under accounting", Page.table(TITLES, lines))
        end

        private

        def process(row, base)
          snapshot = row.snapshot
          [Page.link("#{base}/#{snapshot.pid}/", snapshot.pid), snapshot.state, bytes(snapshot.live_bytes),
           bytes(snapshot.growth_bytes), bytes(row.memory&.rss_bytes), Page.escape(snapshot.command.join(" "))]
        end

        def problem(row)
          [row.entry.pid, "unreadable", "-", "-", "-", Page.escape(row.problem)]
        end

        def bytes(number)
          number ? Format::Units.bytes(number) : "-"
        end
      end
    end
  end
end
