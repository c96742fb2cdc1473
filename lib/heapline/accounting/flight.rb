# frozen_string_literal: true

require_relative "../errors"
require_relative "../extension"
require_relative "../places/location"
require_relative "../objects/object_site"
require_relative "../objects/snapshot"
require_relative "flight_header"
require_relative "site"
require_relative "snapshot"

module Heapline
  module Accounting
    # From a flight file to a Snapshot.
    module Flight
      # Rows that are enough for who reads: groups by :site (none), :key, :location, :file, :library or :tag; of them
      # those with `least` bytes live or grown, the `top` (0: all) with the largest `figure` (of Site), in that order.
      # Where Ruby objects are accounted all sites are read all the same. written: they come as Native::Rows, and not
      # as Sites.
      Wanted = Struct.new(:by, :figure, :top, :least, :written)

      # Read the flight file at `source`, a path or a descriptor (Integer). live: true reads it as a running process's
      # even if it says that it has ended. wanted: Wanted; nil: all sites. kept: FlightSites of the last
      # reading of this file, without `wanted`. Raises FlightError with what is wrong.
      def self.read(source, live: nil, wanted: nil, kept: nil)
        require_native
        sites = kept || FlightSites.new
        raw = Native.each_site(source, live, wanted&.to_a, kept ? kept.marks : false, &sites.method(:add))
        sites.marks = raw[:marks]
        objects = raw[:object_rows] && FlightSites.objects(raw[:object_rows], sites.with_objects)
        quiet = raw[:rows] ? FlightSites.quiet_sum(raw) : sites.quiet
        snapshot(raw, sites: sites.counted, quiet: quiet, objects: objects, written: raw[:written])
      end

      # The Snapshot for who looks at no site, nor at Ruby objects: with the totals of all, and one sum for each kind.
      def self.totals(source)
        require_native
        of_sums(Native.each_site(source, nil, [], false) { nil })
      end

      # For who reads several files one after the other in the block: they are read into the same memory, which then
      # need not be had and wiped for each.
      def self.together(&)
        require_native
        Native.keep_memory(&)
      end

      # The header alone, as a Hash of raw fields (see docs/flight-file.md) with :state as a Symbol. Cheap: one page.
      def self.header(source)
        require_native
        raw = Native.read_header(source)
        raw.merge(state: FlightHeader.state(raw), command: FlightHeader.command(raw))
      end

      # The raw fields, as `header` has them, and in :sites a Hash of number => Site for those alone that the block
      # chooses: it gets the figures of all sites (see Native.choose_sites) and returns numbers. :snapshot is a Snapshot
      # whose sites are one sum for each kind: enough for a Ledger. For readers that come often: what is not chosen
      # costs next to nothing.
      def self.choose(source, live: nil, &block)
        require_native
        raw = Native.choose_sites(source, live, &block)
        maker = FlightSites.new
        sites = raw[:sites].to_h { |site| [site[:number], maker.add(*site.values)] }
        raw.merge(state: FlightHeader.state(raw), command: FlightHeader.command(raw), sites: sites,
                  snapshot: of_sums(raw))
      end

      # A Native::Tally, to which Native.tally_flight adds.
      def self.tally
        require_native
        Native::Tally.new
      end

      # The Snapshot whose sites are one sum for each kind. raw: without sites.
      def self.of_sums(raw)
        snapshot(raw, sites: FlightSites.sums(raw), quiet: FlightSites.quiet_sum(raw))
      end

      # The Ruby objects that a process that runs has accounted (Objects), or nil; without the figures of malloc.
      def self.objects(source)
        require_native
        rows = Native.object_rows(source, true)
        FlightSites.objects(rows, choose(source, live: true) { rows.map(&:first).uniq }[:sites]) if rows
      end

      # The bytes of a flight file (binary String) that tells for good what the one at `source` tells now. Of a process
      # that runs it says when that was: its state is :copied.
      def self.copy(source)
        running = header(source)[:state] == :running
        Native.copy_flight(source, running ? Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond) : nil)
      end

      # Ask the process that writes `path` to begin a new baseline. Returns the header as it was.
      def self.request_baseline(path)
        require_native
        Native.request_baseline(path)
      end

      # Ask the process that writes `path` for its figures (Figures); survey: let glibc go through its free blocks;
      # trim: let the allocator give back what it can. Returns the header as it was.
      def self.request_figures(path, survey: false, trim: false)
        require_native
        Native.request_figures(path, survey, trim)
      end

      # Ask the process that writes `path` to record every event (on: true; :native: with C frames), or to end that.
      # Returns the header as it was.
      def self.request_record(path, on:)
        require_native
        Native.request_record(path, on)
      end

      # Take back a request to record that the process has not seen yet.
      def self.withdraw_record(path)
        require_native
        Native.withdraw_record(path)
      end

      # Have the process of this entry look at what it is asked, while it waits in a system call (Visit). :visited, or
      # why not: :runs, :stopped, :forbidden, :no_door, :gone.
      def self.visit(entry)
        require_native
        pid = entry.process.pid_here
        pid ? Native.visit(entry.path, pid) : :gone
      end

      class << self
        private

        def require_native
          require "heapline/native" unless defined?(Native.read_flight) # a handler of a signal may not require
        rescue LoadError => e
          raise Error, Extension.uncompiled(e)
        end

        def snapshot(raw, **counted)
          sums = { totals: raw[:totals], row_count: raw[:rows], site_count: raw[:counted],
                   kinds: FlightSites.sums(raw) }
          Snapshot.new(**FlightHeader.attributes(raw, raw[:totals][:live_bytes]), **sums, **counted)
        end
      end
    end

    # From what the extension reads of a flight file to Sites and ObjectSites. One makes Sites of what Native.each_site
    # yields. There may be 100,000 and more: values are taken and given in order, and names are looked at once.
    class FlightSites
      KINDS = { 0 => :special, 1 => :ruby, 2 => :native }.freeze
      SPECIAL = { 0 => "(none)", 1 => "(other)", 2 => "(quiet)", 3 => "(exiting threads)" }.freeze
      # The site of what was born inside quiet: in no total.
      QUIET = 2

      # That of quiet, or nil; and those where Ruby objects were born, a Hash of number => Site.
      attr_reader :quiet, :with_objects
      # What Native.each_site said of the last reading, for the next one.
      attr_accessor :marks

      # The Location of a site. number: of one with a fixed number; name: base name of the library.
      def self.place(number, kind, path, line, label, library, offset, symbol_offset,
                     name: Places::BaseName.of(library))
        case kind
        when 0 then Places::Location.new(nil, nil, nil, nil, nil, nil, nil, special(number, label))
        when 1 then Places::Location.new(path || "(unknown)", line, label, name, library, nil, loading(offset), nil)
        else Places::Location.new(nil, nil, native_label(label, symbol_offset), name, library, label, offset, nil)
        end
      end

      # What a line took to load code is counted apart.
      def self.loading(offset)
        offset if offset == Places::Location::LOADING
      end

      # What a special site is called.
      def self.special(number, label)
        SPECIAL.fetch(number, label || "(unknown)")
      end

      # The gem of a Ruby line's path, of native code's library (nil: the VM), or of a special site's label.
      def self.gem(kind, text)
        case kind
        when 1 then Places::GemName.of(text || "(unknown)")
        when 2 then Places::GemName.of_library(text)
        else text && Places::Location.new(special: text).gem
        end
      end

      # One Site with what lives of each kind, of Ruby lines, the JIT's own and all others, for readers that need no
      # more. raw: what Native.choose_sites or each_site returned. Blocks are known of all together.
      def self.sums(raw)
        [sum(:ruby, "(ruby)", raw[:live_ruby_bytes], raw[:totals][:live_blocks]),
         sum(:special, "(JIT)", raw[:live_jit_bytes]), sum(:native, "(native)", raw[:live_native_bytes])]
      end

      # The same of what was born inside quiet.
      def self.quiet_sum(raw)
        sum(:special, "(special)", raw[:live_quiet_bytes])
      end

      # Objects::Snapshot of what Native.object_rows has read (see docs/flight-file.md). places: Hash of a site's number
      # => Site, for each number in them. What was made inside quiet is in no figure.
      def self.objects(rows, places)
        counted = rows.reject { |row| row.first == QUIET || places[row.first].nil? }
        Objects::Snapshot.new(counted.map { |row| object_site(places[row.first], *row.drop(1)) })
      end

      # Flags of a class, see docs/flight-file.md.
      UNNAMED = 1
      HIDDEN = 8

      # The values of a row in its order.
      def self.object_site(place, class_name, type, flags, allocated, freed, bytes_allocated, bytes_freed, since, old,
                           bytes_since, bytes_old, age_sum, age_max, temporary, freed_since, bytes_freed_since)
        name = class_name || ("(unnamed class)" if flags.anybits?(UNNAMED))
        kind = Objects::ObjectSite.type_name(type) unless type.zero? # of (other): several
        Objects::ObjectSite.new(place.location, place.tag, name, kind,
                                flags.anybits?(HIDDEN), allocated, freed, bytes_allocated, bytes_freed,
                                since - freed_since, bytes_since - bytes_freed_since, since - (freed_since - old),
                                bytes_since - (bytes_freed_since - bytes_old), since, bytes_since, age_sum, age_max,
                                temporary, 0)
      end

      def self.sum(kind, name, bytes, blocks = 0)
        Site.new(**Site::ZERO, location: Places::Location.new(special: name), kind: kind, live_bytes: bytes,
                               live_blocks: blocks)
      end

      def self.native_label(symbol, offset)
        symbol && format("%<symbol>s+0x%<offset>x", symbol: symbol, offset: offset)
      end
      private_class_method :loading, :object_site, :sum, :native_label

      # again: who reads a file again and again keeps it: only Sites that changed are made anew.
      def initialize(again: false)
        @again = again
        @sites = []
        @base_names = { nil => nil }
        @with_objects = {}
      end

      # The values of one site in the order of Native::SITE_FIELDS.
      def add(number, kind, path, line, label, library, tag, offset, symbol_offset, allocations, frees,
              bytes_allocated, bytes_freed, age_sum, age_max, age_ms_sum, age_ms_max, temporary, base_allocations,
              base_frees, base_bytes_allocated, base_bytes_freed, new_frees, new_bytes_freed, base_age_sum,
              base_age_ms_sum, base_temporary, _new_age_max, has_objects)
        blocks = allocations - base_allocations
        bytes = bytes_allocated - base_bytes_allocated
        site = Site.new(location(number, kind, path, line, label, library, offset, symbol_offset), KINDS[kind], tag,
                        allocations, frees, bytes_allocated, bytes_freed, bytes_allocated - bytes_freed,
                        allocations - frees, bytes - (bytes_freed - base_bytes_freed), blocks - (frees - base_frees),
                        bytes - new_bytes_freed, blocks - new_frees, blocks, bytes, age_sum, age_max, age_ms_sum,
                        age_ms_max, temporary, age_sum - base_age_sum, age_ms_sum - base_age_ms_sum,
                        temporary - base_temporary)
        @with_objects[number] = site if has_objects
        return @quiet = site if number == QUIET

        @sites[@again ? number : @sites.size] = site
      end

      # The sites that count, as Sites in the order in which they were read.
      def counted
        @sites.compact
      end

      private

      def location(number, kind, path, line, label, library, offset, symbol_offset)
        name = @base_names[library] ||= Places::BaseName.of(library)&.freeze
        FlightSites.place(number, kind, path, line, label, library, offset, symbol_offset, name: name)
      end
    end
  end
end
