# frozen_string_literal: true

require "json"
require_relative "../format/inert"

module Heapline
  module GrowthLog
    # One line of the log as a Hash, and as text: one JSON object, ASCII, with its line end. docs/growth-log.md
    # describes each key; a change of their meaning changes SCHEMA.
    module Line
      SCHEMA = "heapline-growth/1"

      # flight: what Model::Flight.choose read. account: what is remembered of the process. memory:
      # Model::ProcessMemory or nil. ledger: Model::Ledger or nil. now: seconds of the steady clock. others: the
      # keys that the writer knows.
      def self.build(flight, account, now:, memory: nil, ledger: nil, **others)
        elapsed = account.written_at && (now - account.written_at)
        { schema: SCHEMA, time: time(Time.now), host: HOST, **process(flight), seq: account.seq,
          elapsed_s: elapsed&.round(3), **memory_of(memory, ledger), ledger: ledger&.to_h, totals: account.totals,
          gc_count: flight[:gc_count], generation: flight[:generation], **others,
          sites: flight[:sites].map { |number, site| site(number, site, account, elapsed) } }
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

      UNKNOWN_LIFESPANS = { mean_age_gcs: nil, max_age_gcs: nil, mean_age_ms: nil, temporary_share: nil }.freeze

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

        def site(number, site, account, elapsed)
          { **place(site), live_bytes: site.live_bytes, live_blocks: site.live_blocks,
                           growth_bytes: account.growth_bytes(number), delta_bytes: account.delta_bytes(number),
                           allocations: site.allocations, bytes_allocated: site.bytes_allocated,
                           alloc_bytes_per_s: rate(account.allocated_bytes(number), elapsed), **lifespans(site) }
        end

        def place(site)
          location = site.location
          { location: text(location.to_s), label: text(location.label), gem: text(location.gem),
            library: text(location.library), tag: text(site.tag), kind: site.kind }
        end

        # Of the blocks that were freed; unknown before the first is. The process may count on between the moments at
        # which two figures of a site were copied: the share is kept from rising above 1 by that.
        def lifespans(site)
          return UNKNOWN_LIFESPANS if site.frees.zero?

          { mean_age_gcs: site.mean_age.round(3), max_age_gcs: site.age_max, mean_age_ms: site.mean_age_ms.round(3),
            temporary_share: [site.temporary.fdiv(site.frees), 1.0].min.round(4) }
        end

        def rate(bytes, elapsed)
          (bytes / elapsed).round if bytes && elapsed&.positive?
        end

        def text(value)
          Format::Inert.valid(value) if value && !value.empty?
        end
      end
    end
  end
end
