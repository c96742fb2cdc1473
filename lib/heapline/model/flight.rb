# frozen_string_literal: true

require_relative "../errors"
require_relative "figures"
require_relative "flight_objects"
require_relative "flight_sites"
require_relative "flight_sums"
require_relative "process_identity"
require_relative "snapshot"

module Heapline
  module Model
    # From a flight file to a Snapshot.
    module Flight
      PAGE = 4096
      STATES = { 2 => :exited, 3 => :execed, 4 => :copied }.freeze
      BASELINES = { 0 => :start, 1 => :fork, 2 => :clear }.freeze
      ATTRIBUTION = { 0 => :none, 1 => :frames, 2 => :public }.freeze
      FAILURES = %i[sites_refused pages_refused counts_lost mismatches impossible_sites objects_refused
                    objects_untracked objects_mismatches objects_ractors].freeze

      # Read the flight file at `source`, a path or a descriptor (Integer). live: true reads it as a running process's
      # even if it says that it has ended. Raises FlightError with what is wrong.
      def self.read(source, live: nil)
        require_native
        rows = Native.object_rows(source, live)
        sites = FlightSites.new(remember: (rows || []).map(&:first))
        snapshot(Native.each_site(source, live, &sites.method(:add)), sites, rows)
      end

      # The header alone, as a Hash of raw fields (see docs/flight-file.md) with :state as a Symbol. Cheap: one page.
      def self.header(source)
        require_native
        raw = Native.read_header(source)
        raw.merge(state: state(raw), command: command(raw))
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
        raw.merge(state: state(raw), command: command(raw), sites: sites, snapshot: snapshot(raw, FlightSums.new(raw)))
      end

      # The Ruby objects that a process that runs has accounted (Objects), or nil; without the figures of malloc.
      def self.objects(source)
        require_native
        rows = Native.object_rows(source, true)
        FlightObjects.of(rows, choose(source, live: true) { rows.map(&:first).uniq }[:sites]) if rows
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

      class << self
        private

        def require_native
          require "heapline/native"
        rescue LoadError => e
          raise Error, "heapline's extension is not compiled (#{e.message.lines.first.chomp}): run `rake compile` in " \
                       "the checkout, or install the gem again"
        end

        def snapshot(raw, sites, rows = nil)
          counts = { sites: sites.counted, quiet: sites.quiet, failures: failures(raw), figures: Figures.of(raw) }
          Snapshot.new(**process(raw), **figures(raw, sites.counted.sum(&:live_bytes)), **counts,
                       objects: rows && FlightObjects.of(rows, sites.remembered))
        end

        def failures(raw)
          FAILURES.to_h { |name| [name, raw[name]] }.reject { |_, count| count.zero? }
        end

        def process(raw)
          { pid: raw[:pid], parent: raw[:parent], forked_from: nonzero(raw[:forked_from]), command: command(raw),
            ruby: nonempty(raw[:ruby]), allocator: nonempty(raw[:allocator]), started_at: time(raw[:started_ns]),
            state: state(raw), threads: raw[:threads], attribution: ATTRIBUTION[raw[:attribution]], **ended(raw) }
        end

        # A copy of a running process's file says when it was made instead of when the process ended.
        def ended(raw)
          time = time(raw[:ended_ns])
          state(raw) == :copied ? { taken_at: time } : { taken_at: Time.now, ended_at: time }
        end

        # A peak below what lives now would be an older one: the header's is brought up to date only now and then.
        def figures(raw, live)
          { generation: raw[:generation], gc_count: raw[:gc_count], baseline: raw[:baseline],
            baseline_at: time(raw[:baseline_ns]), baseline_kind: BASELINES[raw[:baseline_kind]],
            peak_bytes: [raw[:peak_bytes], live].max, peak_at: time(raw[:peak_ns]), own_bytes: raw[:own_bytes],
            flight_bytes: raw[:page_count] * PAGE }
        end

        def state(raw)
          STATES.fetch(raw[:state]) do
            next :running if ProcessIdentity.new(raw[:pid], raw[:start_ticks]).alive?

            # A copy made by the exit report says when the end began, though the process ended after it.
            raw[:ended_ns].zero? ? :killed : :exited
          end
        end

        # A fork's command is its parent's: while it runs, it is known by what it calls itself now ("puma: cluster
        # worker 0: 4711"), which it mostly decides after the fork.
        def command(raw)
          own = ProcessIdentity.new(raw[:pid], raw[:start_ticks]).command if raw[:forked_from].positive?
          text = own.nil? || own.empty? ? raw[:command].b : own
          text.split("\0").map { |word| word.force_encoding(Encoding::UTF_8) }
        end

        def time(nanoseconds)
          Time.at(0, nanoseconds, :nsec) unless nanoseconds.zero?
        end

        def nonzero(number)
          number unless number.zero?
        end

        def nonempty(text)
          text unless text.empty?
        end
      end
    end
  end
end
