# frozen_string_literal: true

require "json"
require_relative "../../figures/site_figures"
require_relative "../../terminal/inert"

module Heapline
  module GrowthLog
    # One line of the log as a Hash, and as text: one JSON object, ASCII, with its line end. docs/growth-log.md
    # describes each key; a change of their meaning changes SCHEMA.
    module Line
      SCHEMA = "heapline-growth/2"

      # flight: what Accounting::Flight.choose read. account: what is remembered of the process. memory:
      # Processes::ProcessMemory or nil. ledger: Processes::Ledger or nil. now: seconds of the steady clock. others: the
      # keys that the writer knows.
      def self.build(flight, account, now:, memory: nil, ledger: nil, **others)
        elapsed = account.written_at && (now - account.written_at)
        { schema: SCHEMA, time: time(Time.now), host: HOST, **process(flight), seq: account.seq,
          elapsed_s: elapsed&.round(3), **memory_of(memory, ledger), ledger: ledger&.to_h, totals: account.totals,
          moved_bytes: flight[:moved_bytes],
          gc_count: flight[:gc_count], generation: flight[:generation], **others,
          sites: flight[:sites].map do |number, site|
            { **site(number, site, account, elapsed), **earlier(number, account, now) }
          end }
      end

      def self.generate(hash)
        "#{JSON.generate(hash, ascii_only: true)}\n"
      end

      # 2026-11-21T13:04:29.123Z
      def self.time(time)
        time.getutc.strftime("%Y-%m-%dT%H:%M:%S.%LZ")
      end

      # Of this machine.
      HOST = begin
        File.read("/proc/sys/kernel/hostname").chomp.freeze
      rescue SystemCallError
        "localhost"
      end

      # What names a site or a class at a line.
      def self.place(site)
        location = site.location
        { location: text(location.to_s), label: text(location.label), gem: text(location.gem),
          library: text(location.library), tag: text(site.tag), kind: site.kind }
      end

      # Its figures as they are declared (Array of Figures::Columns::Figure), and how much of what was freed was
      # temporary: unknown before something is.
      def self.figures(site, declared)
        share = Figures::SiteFigures.temporary_share(site.temporary, site.frees)
        { **declared.to_h { |figure| [figure.data, figure.logged(site)] }, temporary_share: share&.round(4) }
      end

      def self.text(value)
        Inert.valid(value) if value && !value.empty?
      end

      class << self
        private

        def process(flight)
          { pid: flight[:pid], started_at: time(Time.at(0, flight[:started_ns], :nsec)), parent_pid: flight[:parent],
            forked_from_pid: flight[:forked_from].nonzero?, command: text(flight[:command].join(" ")),
            ruby: text(flight[:ruby]), allocator: text(flight[:allocator]), state: flight[:state] }
        end

        # The ledger was added up for an RSS of its own.
        def memory_of(memory, ledger)
          { rss_bytes: (ledger || memory)&.rss_bytes, pss_bytes: memory&.pss_bytes, swap_bytes: memory&.swap_bytes }
        end

        # Growth here is since the process began, whatever baselines came since.
        def site(number, site, account, elapsed)
          { **place(site), **figures(site, Figures::SiteFigures.logged(:site)),
            growth_bytes: account.growth_bytes(number),
            alloc_bytes_per_s: rate(account.allocated_bytes(number), elapsed) }
        end

        # Of a site that the last line did not list.
        def earlier(number, account, now)
          lines = account.earlier(number) or return {}
          { earlier: lines.map { |time, *figures| [(now - time).round(3), *figures] } }
        end

        def rate(bytes, elapsed)
          (bytes / elapsed).round if bytes && elapsed&.positive?
        end
      end
    end
  end
end
