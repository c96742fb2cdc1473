# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "text"
require_relative "../figures/units"

module Heapline
  module Accounting
    # What the page says of the process in words: who it was, its totals, what was survived.
    class Summary
      STATES = { running: "running", exited: "exited", killed: "killed", execed: "became another program" }.freeze

      # memory: Processes::ProcessMemory or nil; ledger: Processes::Ledger or nil.
      def initialize(snapshot, memory: nil, ledger: nil)
        @snapshot = snapshot
        @rss = ledger&.rss_bytes || memory&.rss_bytes
      end

      # The heading: the command and facts in a row; `since` where growth does not count from the start.
      def process
        { command: Inert.text(@snapshot.command&.join(" ")), facts: facts.compact, since: since }
      end

      # Array of [name, figure, what it means or nil].
      def tiles
        [rss, ["malloc live", Units.bytes(@snapshot.live_bytes),
               "#{Units.count(@snapshot.live_blocks)} blocks"],
         objects, growth, ["allocated", Units.bytes(@snapshot.bytes_allocated),
                           "#{Units.count(@snapshot.allocations)} calls"], temporary, peak].compact
      end

      # Array of sentences.
      def notes
        failures = @snapshot.failures.map do |name, count|
          "#{Units.count(count)} #{Text::FAILURES.fetch(name, name.to_s)}"
        end
        [@snapshot.older&.words, @snapshot.older&.uncovered_words, *failures].compact
      end

      private

      def facts
        ["pid #{@snapshot.pid}", STATES[@snapshot.state], duration, ruby, allocator, collections, taken]
      end

      def duration
        @snapshot.duration && Units.duration(@snapshot.duration)
      end

      def ruby
        text = @snapshot.ruby && Inert.text(@snapshot.ruby)
        text && "Ruby #{text[/\Aruby (\S+)/, 1] || text}"
      end

      def allocator
        @snapshot.allocator && Inert.text(@snapshot.allocator)
      end

      def collections
        @snapshot.gc_count && "#{Units.count(@snapshot.gc_count)} GCs"
      end

      def taken
        @snapshot.taken_at && "taken #{time(@snapshot.taken_at)}"
      end

      def since
        return nil if [nil, :start].include?(@snapshot.baseline_kind)

        what = @snapshot.baseline_kind == :fork ? "the fork from #{@snapshot.forked_from}" : "the baseline"
        "growth counts since #{what}#{" at #{time(@snapshot.baseline_at)}" if @snapshot.baseline_at}"
      end

      def rss
        @rss && ["RSS", Units.bytes(@rss), "resident memory"]
      end

      def objects
        of = @snapshot.objects
        of && ["Ruby objects", Units.count(of.live), "live, #{Units.bytes(of.slot_bytes)} of slots"]
      end

      def growth
        ["growth", Units.bytes(@snapshot.growth_bytes),
         "#{Units.bytes(@snapshot.retained_bytes)} retained"]
      end

      def temporary
        percent = @snapshot.temporary_percent
        percent && ["temporary", "#{percent} %", "of the allocations"]
      end

      def peak
        return nil unless @snapshot.peak_bytes

        at = @snapshot.peak_after
        ["peak live", Units.bytes(@snapshot.peak_bytes), at && "at #{Units.duration(at)}"]
      end

      def time(time)
        time.getutc.strftime("%Y-%m-%d %H:%M:%S UTC")
      end
    end
  end
end
