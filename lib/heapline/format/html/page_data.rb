# frozen_string_literal: true

require_relative "../../version"
require_relative "../columns"
require_relative "../inert"
require_relative "../selection"
require_relative "excerpts"
require_relative "growth_data"
require_relative "site_columns"
require_relative "summary"

module Heapline
  module Format
    class Html
      # All that the page shows, malloc's sites and Ruby objects in one table, as plain Hashes and Arrays for JSON;
      # assets/src/data.ts reads it. Names are inert.
      class PageData
        # Sites whose source is read: those at the top of the table.
        SOURCES = 500

        def initialize(selection:, ledger: nil, growth: nil, memory: nil, source: true)
          @selection = selection
          @ledger = ledger
          @growth = growth
          @memory = memory
          @source = source
        end

        # The Hash for a snapshot, or for nil.
        def of(snapshot)
          all = snapshot ? [*snapshot.sites, *snapshot.objects&.sites] : []
          sites = @selection.of(all)
          columns = SiteColumns.new(sites)
          summary = snapshot && Summary.new(snapshot, memory: @memory, ledger: @ledger)
          { version: VERSION, sort: column, process: summary&.process, tiles: summary&.tiles || [],
            notes: summary&.notes || [], sites: snapshot && columns.to_h, strings: columns.strings,
            left_out: all.size - sites.size, sources: sources(snapshot, sites),
            ledger: ledger, growth: @growth && GrowthData.new(@growth).to_h }
        end

        private

        # Number of a site => [number of the first line, lines].
        def sources(snapshot, sites)
          return {} unless @source && snapshot

          Excerpts.new((snapshot.pid if snapshot.state == :running)).of(sites.first(SOURCES))
        end

        # Key of the column by which the table is sorted first.
        def column
          Columns::ALL.find { |one| one.figure == @selection.sort }&.key
        end

        def ledger
          @ledger && { rss_bytes: @ledger.rss_bytes, lines: @ledger.lines.map { |line| line(line) } }
        end

        def line(line)
          { key: line.key.to_s, name: Inert.text(line.name), bytes: line.bytes,
            parts: (line.parts || []).map { |part| line(part) } }
        end
      end
    end
  end
end
