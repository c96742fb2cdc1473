# frozen_string_literal: true

require_relative "older_memory"
require_relative "own_figures"
require_relative "process_identity"

module Heapline
  module Accounting
    # What the header of a flight file tells of its process, under the names of Snapshot. raw: the Hash of its fields
    # (docs/flight-file.md), as Native.read_header and the readers of sites return it.
    module FlightHeader
      PAGE = 4096
      STATES = { 2 => :exited, 3 => :execed, 4 => :copied }.freeze
      # Of a process that runs and has not taken over yet what it inherited at its fork.
      FORKED = 5
      BASELINES = { 0 => :start, 1 => :fork, 2 => :clear }.freeze
      ATTRIBUTION = { 0 => :none, 1 => :frames, 2 => :public }.freeze
      LAYOUTS = { 0 => :open, 1 => :known, 2 => :found, 3 => :refused, 4 => :unasked }.freeze
      FAILURES = %i[sites_refused pages_refused counts_lost mismatches impossible_sites objects_refused
                    objects_untracked objects_mismatches objects_ractors late_children].freeze

      class << self
        # Who it was, how it ended, its own figures; `live` are the bytes that live by its sites.
        def attributes(raw, live)
          { **process(raw), **counts(raw, live), failures: failures(raw), figures: OwnFigures.of(raw) }
        end

        def state(raw)
          STATES.fetch(raw[:state]) do
            process = ProcessIdentity.of_header(raw)
            next raw[:state] == FORKED ? :forked : :running if process.alive? || process.out_of_sight?

            # A copy made by the exit report says when the end began, though the process ended after it.
            raw[:ended_ns].zero? ? :killed : :exited
          end
        end

        # While it runs, a process is known by what it calls itself now ("puma: cluster worker 0: 4711"); the exit
        # report says how it was started.
        def command(raw)
          own = ProcessIdentity.of_header(raw).command if raw[:ended_ns].zero? && !STATES.key?(raw[:state])
          own.nil? || own.empty? ? started_as(raw) : words(own)
        end

        # A fork's is its parent's.
        def started_as(raw)
          words(raw[:command].b)
        end

        # Of the process, its parent, the one that it was forked from and that of its `heapline CMD` (0: none), as they
        # are called here: whoever reads /proc of one, or says its number, means that.
        def pids(raw)
          ticks = { pid: raw[:start_ticks], parent: nil, forked_from: raw[:forked_from_ticks],
                    top: nonzero(raw[:top_ticks]) }
          ticks.to_h do |key, start|
            process = ProcessIdentity.new(raw[key], start, raw[:pid_namespace])
            [key, (process.pid_here unless raw[key].zero?) || raw[key]]
          end
        end

        private

        def words(text)
          text.split("\0").map { |word| word.force_encoding(Encoding::UTF_8) }
        end

        def process(raw)
          pids = pids(raw)
          { pid: pids[:pid], parent: pids[:parent], start_ticks: raw[:start_ticks],
            forked_from: nonzero(pids[:forked_from]), forked_from_ticks: raw[:forked_from_ticks], command: command(raw),
            ruby: nonempty(raw[:ruby]), allocator: nonempty(raw[:allocator]), threads: raw[:threads],
            started_at: time(raw[:started_ns] - raw[:late_ns]), older: OlderMemory.of(raw),
            stopped_at: time(raw[:stopped_ns]), state: state(raw), attribution: ATTRIBUTION[raw[:attribution]],
            layout: layout(raw[:layout]), **ended(raw) }
        end

        # What came of comparing the VM's structs with Ruby's own answers (docs/architecture.md, "Never guess").
        def layout(raw)
          raw.merge(outcome: LAYOUTS[raw[:outcome]], milliseconds: raw[:ns] / 1e6)
        end

        # A copy of a running process's file says when it was made instead of when the process ended.
        def ended(raw)
          time = time(raw[:ended_ns])
          state(raw) == :copied ? { taken_at: time } : { taken_at: Time.now, ended_at: time }
        end

        # A peak below what lives now would be an older one: the header's is brought up to date only now and then.
        def counts(raw, live)
          { generation: raw[:generation], gc_count: (raw[:gc_count] unless raw[:ruby].empty?), baseline: raw[:baseline],
            baseline_at: time(raw[:baseline_ns]), baseline_kind: BASELINES[raw[:baseline_kind]],
            peak_bytes: [raw[:peak_bytes], live].max, peak_at: time(raw[:peak_ns]), own_bytes: raw[:own_bytes],
            flight_bytes: raw[:page_count] * PAGE, moved_bytes: raw[:moved_bytes] }
        end

        def failures(raw)
          FAILURES.to_h { |name| [name, raw[name]] }.reject { |_, count| count.zero? }
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
