# frozen_string_literal: true

require "time"
require_relative "../figures/site_figures"
require_relative "../table/json_object"
require_relative "../objects/json"
require_relative "../table/selection"
require_relative "../files/json_value"
require_relative "snapshot"
require_relative "flight_rows"
require_relative "native_places"

module Heapline
  module Accounting
    # A snapshot as one JSON object. Keys carry their unit: _bytes, _blocks, _generations, _ms, _at (ISO 8601); counts
    # have none. Output is ASCII, so that it acts on no terminal; invalid UTF-8 in names is written as \xHH.
    # docs/cli.md describes each key; a change of their meaning raises schema_version.
    class Json
      include Table::JsonObject

      SCHEMA_VERSION = 1

      # by: nil for sites, or :gem, :file, :library, :tag for groups; :class for those of objects. objects: only the
      # Ruby objects' rows, and not those of malloc. memory: Processes::ProcessMemory or nil. ledger: Processes::Ledger
      # or nil.
      def initialize(by: nil, objects: false, memory: nil, ledger: nil, top: 0, sort: :growth_bytes, min: 0)
        @by = by
        @objects_alone = objects || by == :class
        @memory = memory
        @ledger = ledger
        @selection = Table::Selection.new(top: top, sort: sort, min: min)
      end

      # Write the object and a line end to `io`.
      def render(snapshot, io)
        write(object(snapshot), io)
      ensure
        snapshot.written&.release
      end

      private

      # The object as a Hash; of sites there may be many, so they are an Enumerator, or a Proc that writes them.
      def object(snapshot)
        @gems = {}
        { schema_version: SCHEMA_VERSION, process: process(snapshot), memory: memory(snapshot), ledger: @ledger&.to_h,
          totals: Figures::SiteFigures::TOTALS.to_h { |name| [name, snapshot.public_send(name)] },
          failures: snapshot.failures, **sites(snapshot), objects: objects(snapshot) }
      end

      def process(snapshot)
        { pid: snapshot.pid, parent_pid: snapshot.parent, forked_from_pid: snapshot.forked_from,
          command: snapshot.command&.map { |word| text(word) }, ruby: text(snapshot.ruby),
          allocator: text(snapshot.allocator), state: snapshot.state, attribution: snapshot.attribution,
          threads: snapshot.threads, started_at: time(snapshot.started_at), ended_at: time(snapshot.ended_at),
          taken_at: time(snapshot.taken_at), gc_count: snapshot.gc_count, generation: snapshot.generation,
          baseline_number: snapshot.baseline, baseline_kind: snapshot.baseline_kind,
          baseline_at: time(snapshot.baseline_at), late_start: late_start(snapshot.older),
          stopped_at: time(snapshot.stopped_at), merged: snapshot.merged }
      end

      # null where all is counted.
      def late_start(older)
        older && { at: time(older.counted_at), after_seconds: older.after.round(3), older_bytes: older.bytes,
                   older_frees: older.frees, older_bytes_freed: older.bytes_freed,
                   uncovered_libraries: older.uncovered.map { |name| text(name) } }
      end

      def memory(snapshot)
        { rss_bytes: @memory&.rss_bytes, private_bytes: @memory&.private_bytes, swap_bytes: @memory&.swap_bytes,
          peak_live_bytes: snapshot.peak_bytes, peak_at: time(snapshot.peak_at), heapline_bytes: snapshot.own_bytes,
          flight_file_bytes: snapshot.flight_bytes, moved_bytes: snapshot.moved_bytes,
          untouched_bytes: @ledger&.untouched_bytes }
      end

      def sites(snapshot)
        return {} if @objects_alone
        return { sites: ->(io) { write_rows(snapshot.written, io) } } if snapshot.written

        { (@by ? :groups : :sites) => rows(snapshot) }
      end

      # null where they were not accounted; a library makes none.
      def objects(snapshot)
        Objects::Json.new(by: @by, selection: @selection).to_h(snapshot.objects) if snapshot.objects && @by != :library
      end

      def rows(snapshot)
        return site_rows(@selection.of(snapshot.sites)) unless @by

        names = names_of_sums(snapshot.groups(@by))
        @selection.of(names.keys).lazy.map { |sum| { @by => text(names[sum]) }.merge(figures(sum)) }
      end

      def site_rows(sites)
        functions = NativePlaces.functions(sites.map(&:location), of_vm: true)
        sites.lazy.map { |site| place(site, functions).merge(figures(site)) }
      end

      # The same rows, written by the extension.
      def write_rows(rows, io)
        return io.write(pretty([], "  ")) if rows.empty?

        io.write("[")
        flight_rows.write(rows, io)
        io.write("\n  ]")
      end

      # What stands between the values of a row is what stands between those of a Hash.
      def flight_rows
        keys = FlightRows::PLACE + Figures::SiteFigures::ALL.map(&:data)
        *before, last = pretty(keys.to_h { |key| [key, 0] }, "    ").split(/(?<=: )0/)
        shape = { end: last, between: ",", quote: '"', none: "null", special: '"\\', ends: "" }
        columns = FlightRows.columns(Figures::SiteFigures::ALL)
        FlightRows.new(columns, ["\n    #{before.shift}", *before], shape) do |value|
          JSON.generate(value.is_a?(String) ? text(value) : value, ascii_only: true)
        end
      end

      # By FlightRows::PLACE.
      def place(site, functions)
        location = site.location
        { location: text(location.to_s), path: text(location.path), lineno: location.lineno,
          label: text(location.label), library: text(location.library), gem: gem_of(location),
          symbol: text(location.symbol), function: text(functions[location]), kind: site.kind, tag: text(site.tag) }
      end

      # Looked for once for each file.
      def gem_of(location)
        return text(location.gem) unless location.path

        @gems.fetch(location.path) { |path| @gems[path] = text(location.gem) }
      end

      def figures(site)
        Figures::SiteFigures::ALL.to_h { |figure| [figure.data, figure.plain(site)] }
      end
    end

    # From a report in JSON (Accounting::Json) back to a Snapshot. What JSON does not have (what was counted since the
    # baseline) is 0.
    module JsonReport
      # Fields of Site => keys.
      FIGURES = Figures::SiteFigures::COUNTED.to_h { |figure| [figure.figure, figure.data.to_s] }.freeze
      # Fields of ObjectSite => keys.
      OBJECTS = Objects::ObjectFigures::COUNTED.to_h { |figure| [figure.figure, figure.data.to_s] }
                                               .slice(*Objects::ObjectSite.members).freeze
      TIMES = { started_at: "started_at", ended_at: "ended_at", taken_at: "taken_at" }.freeze

      # Accounting::Json writes it; a change of what it means raises it.
      VERSION = 1

      # text: the JSON; name: what it is called in messages. Raises InputError where it is no report with sites.
      def self.parse(text, name)
        data = JsonValue.parse(text, name)
        data.wrong("is no report of heapline in JSON") unless data.key?("schema_version")
        data.check_version("schema_version", VERSION)
        data.wrong("has sums only: write it without --by") unless data.key?("sites")

        process = data.fetch("process")
        Snapshot.new(**identity(process), **TIMES.transform_values { |key| time(process, key) },
                     sites: data.list("sites").map { |row| site(row) }, objects: objects(data))
      end

      class << self
        private

        def identity(process)
          { pid: process.number("pid"), command: (process.texts("command") if process.key?("command")),
            ruby: process.text?("ruby"), allocator: process.text?("allocator"), state: process.text("state").to_sym,
            gc_count: process.number?("gc_count"), baseline_kind: :start }
        end

        def time(process, key)
          Time.iso8601(process.text(key)) if process.key?(key)
        rescue ArgumentError
          process.wrong("process.#{key} is no time")
        end

        def site(row)
          figures = FIGURES.transform_values { |key| row.number(key) }
          Site.new(location: location(row, row.text("kind")), kind: row.text("kind").to_sym, tag: row.text?("tag"),
                   **Site::ZERO, **figures)
        end

        # nil where they were not accounted, or are there as sums only.
        def objects(data)
          return unless data.key?("objects") && data.fetch("objects").key?("sites")

          Objects::Snapshot.new(data.fetch("objects").list("sites").map { |row| object_site(row) })
        end

        def object_site(row)
          figures = OBJECTS.transform_values { |key| row.number(key) }
          Objects::ObjectSite.new(location: location(row, row.key?("path") ? "ruby" : "special"), tag: row.text?("tag"),
                                  class_name: row.text?("class"), type: row.text?("type"),
                                  internal: row.true?("internal"),
                                  **Objects::ObjectSite::ZERO, **figures)
        end

        def location(row, kind)
          known = { label: row.text?("label"), library: row.text?("library"), symbol: row.text?("symbol") }
          case kind
          when "ruby" then Places::Location.new(path: row.text("path"), lineno: row.number?("lineno"), **known)
          when "native" then Places::Location.new(offset: row.text("location")[/\+0x(\h{1,16})\z/, 1].to_s.hex, **known)
          else Places::Location.new(special: row.text("location"))
          end
        end
      end
    end
  end
end
