# frozen_string_literal: true

require_relative "html/page"
require_relative "html/page_data"

module Heapline
  module Format
    # A snapshot as one HTML file that needs nothing else; see Page.
    class Html
      CONTENT_TYPE = "text/html; charset=utf-8"

      # ledger: Model::Ledger, growth: Model::Growth, memory: Model::ProcessMemory, each or nil. top, sort, min: see
      # Selection. source: false leaves out the lines of source that are read from the disk.
      def initialize(ledger: nil, growth: nil, memory: nil, top: 0, sort: :growth_bytes, min: 0, source: true)
        @data = PageData.new(ledger: ledger, growth: growth, memory: memory, source: source,
                             selection: Selection.new(top: top, sort: sort, min: min))
      end

      # Write the page to `io`. Without a snapshot (nil) it shows the growth alone.
      def render(snapshot, io)
        Page.new("report.js").write(io, title: title(snapshot), data: @data.of(snapshot))
      end

      private

      def title(snapshot)
        snapshot ? "#{snapshot.command&.join(" ")} · pid #{snapshot.pid}" : "growth"
      end
    end
  end
end
