# frozen_string_literal: true

require_relative "json_object"
require_relative "object_json"
require_relative "selection"

module Heapline
  module Format
    # A snapshot as one JSON object. Keys carry their unit: _bytes, _blocks, _generations, _ms, _at (ISO 8601); counts
    # have none. Output is ASCII, so that it acts on no terminal; invalid UTF-8 in names is written as \xHH.
    # docs/cli.md describes each key; a change of their meaning raises schema_version.
    class Json
      include JsonObject

      SCHEMA_VERSION = 1
      TOTALS = %i[allocations frees bytes_allocated bytes_freed live_bytes live_blocks growth_bytes growth_blocks
                  retained_bytes retained_blocks temporary].freeze

      # by: nil for sites, or :gem, :file, :library, :tag for groups; :class for those of objects. objects: only the
      # Ruby objects' rows, and not those of malloc. memory: Model::ProcessMemory or nil. ledger: Model::Ledger or nil.
      # top, sort, min: see Selection; the defaults write all.
      def initialize(by: nil, objects: false, memory: nil, ledger: nil, top: 0, sort: :growth_bytes, min: 0)
        @by = by
        @objects_alone = objects || by == :class
        @memory = memory
        @ledger = ledger
        @selection = Selection.new(top: top, sort: sort, min: min)
      end

      # Write the object and a line end to `io`.
      def render(snapshot, io)
        write(to_h(snapshot), io)
      end

      # The object as a Hash.
      def to_h(snapshot)
        { schema_version: SCHEMA_VERSION, process: process(snapshot), memory: memory(snapshot), ledger: @ledger&.to_h,
          totals: TOTALS.to_h { |name| [name, snapshot.public_send(name)] }, failures: snapshot.failures,
          **sites(snapshot), objects: objects(snapshot) }
      end

      private

      def process(snapshot)
        { pid: snapshot.pid, parent_pid: snapshot.parent, forked_from_pid: snapshot.forked_from,
          command: snapshot.command&.map { |word| text(word) }, ruby: text(snapshot.ruby),
          allocator: text(snapshot.allocator), state: snapshot.state, attribution: snapshot.attribution,
          threads: snapshot.threads, started_at: time(snapshot.started_at), ended_at: time(snapshot.ended_at),
          taken_at: time(snapshot.taken_at), gc_count: snapshot.gc_count, generation: snapshot.generation,
          baseline_number: snapshot.baseline, baseline_kind: snapshot.baseline_kind,
          baseline_at: time(snapshot.baseline_at) }
      end

      def memory(snapshot)
        { rss_bytes: @memory&.rss_bytes, private_bytes: @memory&.private_bytes, swap_bytes: @memory&.swap_bytes,
          peak_live_bytes: snapshot.peak_bytes, peak_at: time(snapshot.peak_at), heapline_bytes: snapshot.own_bytes,
          flight_file_bytes: snapshot.flight_bytes }
      end

      def sites(snapshot)
        return {} if @objects_alone

        { (@by ? :groups : :sites) => rows(snapshot) }
      end

      # null where they were not accounted; a library makes none.
      def objects(snapshot)
        ObjectJson.new(by: @by, selection: @selection).to_h(snapshot.objects) if snapshot.objects && @by != :library
      end

      def rows(snapshot)
        return @selection.of(snapshot.sites).map { |site| place(site).merge(figures(site)) } unless @by

        names = snapshot.group_by(@by).to_h.invert
        @selection.of(names.keys).map { |sum| { @by => text(names[sum]) }.merge(figures(sum)) }
      end

      def place(site)
        location = site.location
        { location: text(location.to_s), path: text(location.path), lineno: location.lineno,
          label: text(location.label), library: text(location.library), gem: text(location.gem),
          symbol: text(location.symbol), kind: site.kind, tag: text(site.tag) }
      end

      def figures(site)
        TOTALS.to_h { |name| [name, site[name]] }.merge(
          age_sum_generations: site.age_sum, age_max_generations: site.age_max,
          age_mean_generations: site.mean_age.round(3), age_sum_ms: site.age_ms_sum, age_max_ms: site.age_ms_max,
          age_mean_ms: site.mean_age_ms.round(3)
        )
      end
    end
  end
end
