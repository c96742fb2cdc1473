# frozen_string_literal: true

require_relative "../page/document"
require_relative "../version"
require_relative "../figures/site_figures"
require_relative "../terminal/inert"
require_relative "../table/selection"
require_relative "../page/data"
require_relative "summary"
require_relative "native_places"
require_relative "../figures/units"

module Heapline
  module Accounting
    # A snapshot as one HTML file that needs nothing else; see Page::Document.
    class Html
      CONTENT_TYPE = "text/html; charset=utf-8"

      # A page of more sites is no help to anyone, and takes longer to write and to open than one waits.
      MOST = 50_000

      # ledger: Processes::Ledger, growth: Growth::History, memory: Processes::ProcessMemory, each or nil. top, sort,
      # min: see Table::Selection; top 0 is all. source: false leaves out the lines of source.
      def initialize(ledger: nil, growth: nil, memory: nil, top: MOST, sort: :growth_bytes, min: 0, source: true)
        @data = PageData.new(ledger: ledger, growth: growth, memory: memory, source: source,
                             selection: Table::Selection.new(top: top, sort: sort, min: min))
      end

      # Write the page to `io`. Without a snapshot (nil) it shows the growth alone.
      def render(snapshot, io)
        Page::Document.new("report.js").write(io, title: title(snapshot), data: @data.of(snapshot))
      end

      private

      def title(snapshot)
        snapshot ? [snapshot.command&.join(" "), "pid #{snapshot.pid}"].compact.join(" · ") : "growth"
      end
    end

    # All that the page shows, malloc's sites and Ruby objects in one table, as plain Hashes and Arrays for JSON;
    # assets/src/data.ts reads it. Names are inert.
    class PageData
      # Sites whose source is read, or whose native code gets a name: those at the top of the table.
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
        sites = named(@selection.of(all), snapshot)
        columns = SiteColumns.new(sites)
        left_out = snapshot ? [snapshot.site_count || 0, all.size].max - sites.size : 0
        summary = snapshot && Summary.new(snapshot, memory: @memory, ledger: @ledger)
        { version: VERSION, sort: column, **declarations(gcs: !snapshot || snapshot.ruby?),
          process: summary&.process, tiles: summary&.tiles || [], notes: [*summary&.notes, *note(sites.size, left_out)],
          sites: snapshot && columns.to_h, strings: columns.strings,
          left_out: left_out, sources: sources(snapshot, sites),
          ledger: ledger, growth: @growth && GrowthData.new(@growth).to_h }
      end

      private

      # Of a Ruby program the VM's own code has names, of others all native code.
      def named(sites, snapshot)
        return sites if sites.empty?

        NativePlaces.named(sites.first(SOURCES), of_vm: snapshot.ruby?) + sites.drop(SOURCES)
      end

      # Columns of the table, means that one site alone has besides, and the figures that all these are made of.
      def declarations(gcs:)
        figures = Figures::SiteFigures::ALL.select(&:page).map do |one|
          { figure: one.figure, unit: one.unit, help: one.help, longest: one.longest == true }
        end
        { columns: Figures::SiteFigures.declared(gcs: gcs), figures: figures }
      end

      # Where nobody asked for fewer sites, the reader is told at the top.
      def note(shown, left_out)
        return unless left_out.positive? && @selection.top == Html::MOST && shown == Html::MOST

        shown, others = [shown, left_out].map { |number| Units.count(number) }
        "These are the #{shown} sites with the largest figures. #{others} others are in the totals, but in no sum " \
          "below. --top 0 writes all."
      end

      # Number of a site => [number of the first line, lines].
      def sources(snapshot, sites)
        return {} unless @source && snapshot

        Page::Excerpts.new((snapshot.pid if snapshot.state == :running)).of(sites.first(SOURCES))
      end

      # Key of the column by which the table is sorted first.
      def column
        Figures::SiteFigures::COLUMNS.find { |one| one.figure == @selection.sort }&.key
      end

      def ledger
        @ledger && { rss_bytes: @ledger.rss_bytes, lines: @ledger.lines.map { |line| line(line) } }
      end

      def line(line)
        { key: line.key.to_s, name: Inert.text(line.name), bytes: line.bytes,
          parts: (line.parts || []).map { |part| line(part) } }
      end
    end

    # Sites, and ObjectSites among them, as columns of integers over one table of strings: a tenth of the bytes of an
    # object a site, and read by a browser in as little time. A column is as long as there are sites; names are
    # numbers in `strings`, 0 is none.
    class SiteColumns
      FIGURES = Figures::SiteFigures::ALL.select(&:page).map(&:figure).freeze
      # The line of what has none.
      NO_LINE = -1

      def initialize(sites)
        @sites = sites
        @strings = Page::Strings.new
        @gems = {}
      end

      # Array of String, inert; complete once to_h was called.
      def strings
        @strings.all
      end

      def to_h
        locations = @sites.map(&:location)
        { place: locations.map { |at| number(at.path || at.to_s) }, line: locations.map { |at| line(at) },
          label: locations.map { |at| number(at.label) }, library: locations.map { |at| number(at.library) },
          gem: locations.map { |at| gem(at) }, tag: @sites.map { |site| number(site.tag) },
          **classes, **FIGURES.to_h { |figure| [figure, @sites.map(&figure)] } }
      end

      private

      # Only where there are objects: else it would be a column of zeros.
      def classes
        return {} if @sites.none? { |site| site.kind == :object }

        { class: @sites.map { |site| site.kind == :object ? number(site.name) : 0 } }
      end

      def number(text)
        @strings.number(text)
      end

      def line(location)
        location.path ? location.lineno || 0 : NO_LINE
      end

      # A gem's name takes a search in its path: once a path.
      def gem(location)
        @gems[location.path || location.library_path] ||= number(location.gem)
      end
    end

    # What the page shows of a Growth::History, as plain values: the log in words, the processes' memory, the series.
    class GrowthData
      MEMORY = { "rss" => "RSS", "malloc_live" => "malloc live" }.freeze

      def initialize(growth)
        @growth = growth
      end

      # facts: Array of String; memory and series: Arrays of Hashes, points of which are [seconds, bytes].
      def to_h
        { facts: facts, memory: memory, series: @growth.series.map { |one| series(one) } }
      end

      private

      def facts
        processes = @growth.processes
        hosts = processes.map(&:host).uniq.size
        [count(processes.size, "process", "processes"), (count(hosts, "host", "hosts") if hosts > 1),
         *(times if @growth.duration)].compact
      end

      def times
        first, last = [@growth.first_at, @growth.last_at].map { |time| time.getutc.strftime("%Y-%m-%d %H:%M") }
        [Units.duration(@growth.duration), "#{first} to #{last} UTC"]
      end

      def count(number, one, many)
        "#{Units.count(number)} #{number == 1 ? one : many}"
      end

      # The figures of the processes as a whole that the log has.
      def memory
        MEMORY.filter_map do |key, name|
          one = @growth.memory[key]
          { name: name, points: one.points, **slope(one) } if one
        end
      end

      def series(one)
        names = %i[location label gem library tag].to_h { |name| [name, text(one.public_send(name))] }
        { **names, **slope(one), processes: one.processes, verdict: one.verdict,
                                 live_bytes: one.live_bytes, growth_bytes: one.growth_bytes, points: one.points }
      end

      def slope(one)
        { slope: number(one.slope_bytes_per_hour), slope_low: number(one.slope_low),
          slope_high: number(one.slope_high) }
      end

      def text(name)
        name && Inert.text(name)
      end

      # JSON knows neither NaN nor infinity; the page has no use for fractions of a byte.
      def number(value)
        value.round if value&.finite?
      end
    end
  end
end
