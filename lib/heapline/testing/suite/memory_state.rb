# frozen_string_literal: true

module Heapline
  module Suite
    # The memory of this process after a full GC: of each site what it allocated and freed, and the live slots of the
    # object heap. A frozen plain value.
    class MemoryState
      # The frameworks keep results of each test: that is not the test's.
      FRAMEWORKS = %w[minitest rspec-core rspec-expectations rspec-mocks rspec-support test-unit].freeze
      FIGURES = 5
      # Lines that are named for each test, and the least bytes of one.
      LINES = 3
      LEAST = 100

      def self.take
        GC.start
        slots = GC.stat(:heap_live_slots)
        figures = nil
        Native.choose_sites(Native.flight_fd, true) { |all| (figures = all) && [] }
        new(figures.unpack("q*"), slots, Native.generation)
      end

      # generation: what is born from now on is born in it or later.
      attr_reader :figures, :slots, :generation

      def initialize(figures, slots, generation)
        @figures = figures.freeze
        @slots = slots
        @generation = generation
        freeze
      end

      # What lies between: Hash with :bytes_allocated, :allocations, :retained_bytes, :retained_blocks,
      # :retained_objects and :lines, an Array of [location, bytes, blocks] of those that retain most; and :retains: may
      # anything have stayed? The sums do not say it: what was freed of earlier memory hides it.
      def since(former)
        changes = changes(former)
        sites = Accounting::Flight.choose(Native.flight_fd, live: true) { changes.keys }[:sites]
        changes.select! { |number, _| counts?(number, sites[number]) }
        totals = changes.values.transpose.map(&:sum)
        totals = [0] * 4 if totals.empty?
        { allocations: totals[0], bytes_allocated: totals[2], retained_blocks: totals[0] - totals[1],
          retained_bytes: totals[2] - totals[3], retained_objects: slots - former.slots, lines: lines(changes, sites),
          retains: slots != former.slots || changes.values.any? { |change| retains?(change) } }
      end

      private

      # Hash of number => [allocations, frees, bytes allocated, bytes freed] of the sites where something happened.
      def changes(former)
        (0...(figures.size / FIGURES)).each_with_object({}) do |number, found|
          place = number * FIGURES
          change = (place...(place + 4)).map { |index| figures[index] - (former.figures[index] || 0) }
          found[number] = change unless change.all?(&:zero?)
        end
      end

      def retains?(change)
        change[0] > change[1] || change[2] > change[3]
      end

      def counts?(number, site)
        return false if number == Accounting::FlightSites::QUIET || site.nil?

        !FRAMEWORKS.include?(site.location.gem) && !site.location.path&.start_with?(__dir__)
      end

      def lines(changes, sites)
        found = changes.filter_map { |number, change| line(sites[number], change) }
        found.max_by(LINES) { |_, bytes, _| bytes }
      end

      def line(site, change)
        bytes = change[2] - change[3]
        [site.location.name, bytes, change[0] - change[1]] if bytes >= LEAST
      end
    end
  end
end
