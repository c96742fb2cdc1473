# frozen_string_literal: true

require_relative "../accounting/flight"
require_relative "../places/location"
require_relative "../terminal/inert"
require_relative "activity"
require_relative "reading"

module Heapline
  module Top
    # What several processes counted, reading by reading, kept as plain numbers: Ruby objects are made of the rows that
    # somebody looks at, however many there are. The newest reading alone can be asked for rows.
    class Tally
      # A Reading whose sites are in a Tally.
      class Reading < Top::Reading
        def initialize(tally, totals, snapshots, **others)
          @tally = tally
          @totals = totals
          super(snapshots, **others)
        end

        # The root with the totals of all, whoever else is there: where one has gone nothing is measured against this.
        # Peaks of several processes do not add up.
        def total(_members = nil)
          @known[:total] ||= root.with(totals: @totals.except(:base_live_bytes), peak_bytes: nil, peak_at: nil)
        end

        # Live bytes at the watcher's baseline, of those that are still there.
        def base_live_bytes
          @totals[:base_live_bytes]
        end

        # Later readings are measured against this one.
        def keep
          @known[:before] ||= @tally.before
        end

        # Without the figures of the one that has gone there is nothing to measure against.
        def breaks?(former)
          super || (former.members - members).any?
        end

        # activity: Activity of which this is the newest reading. Where objects are counted there is no Tally.
        def rows(activity, by, within)
          OBJECTS.key?(by) ? [] : Rows.new(@tally, activity, by, within)
        end
      end

      # The rows of an Activity in an order: as many are made as somebody looks at.
      class Rows
        include Enumerable

        def initialize(tally, activity, by, within)
          @tally = tally
          @activity = activity
          @by = by
          @within = within
        end

        # All of them, those that grew most first.
        def each(&)
          order(:growth, nil).all.each(&)
        end

        def size
          order(:growth, nil).size
        end

        def empty?
          size.zero?
        end

        # An Order of those whose names contain `pattern` (nil: all), the largest `figure` (key of a column) first.
        def order(figure, pattern)
          pattern = nil if pattern && pattern.empty?
          figure = :baseline_growth if figure == :growth && @activity.baseline?
          native = @tally.order(@by, @within, figure, @activity.before, pattern && Tally.folded(pattern),
                                @activity.baseline?)
          Order.new(native, @activity, @by)
        end
      end

      # Rows in their order.
      class Order
        # Rows that are made at a time.
        PAGE = 100

        def initialize(native, activity, by)
          @native = native
          @activity = activity
          @by = by
          @rows = {}
        end

        def size
          @native.size
        end

        def [](index)
          part(index, 1).first if index >= 0
        end

        def first(count)
          part(0, count)
        end

        # From place `from` on, at most `count`.
        def part(from, count)
          wanted = (from...[from + count, size].min).to_a
          missing = wanted.reject { |index| @rows.key?(index) }
          make(missing.first, [missing.last - missing.first + 1, PAGE].max) if missing.any?
          wanted.map { |index| @rows[index] }
        end

        # Place of the row of that name, or nil.
        def place(name)
          @native.place(name)
        end

        def all
          first(size)
        end

        private

        def make(from, count)
          @native.rows(from, count).each_with_index { |values, index| @rows[from + index] ||= row(*values) }
        end

        # The values of a row as Native::TallyOrder#rows has them.
        def row(name, tag, kind, path, line, label, library, offset, symbol_offset, fixed, figures, before, base)
          if %i[location overview].include?(@by)
            place = Accounting::FlightSites.place(fixed, kind, path, line, label, library, offset, symbol_offset)
            name = place.to_s
          else
            place = Places::Location.new(special: name || Places::SiteCollection::UNNAMED.fetch(@by))
          end
          kind = Accounting::FlightSites::KINDS[kind]
          @activity.row(name, Accounting::Site.new(location: place, kind: kind, tag: tag, **figures), base,
                        Accounting::Site.new(**before))
        end
      end

      # What a filter looks at: case makes no difference.
      def self.folded(text)
        Inert.valid(text).downcase
      end

      def initialize
        @native = Accounting::Flight.tally
        @last = Top::Reading::Last.new
      end

      # Add up what these processes counted: the first one's all, of the others what they did since they were forked.
      # sources: of each an IO on its flight file and what its processor has done for it (nil: unknown). Returns a
      # Snapshot of each, without sites, and the totals of all; nil where the block, which is asked first, says that
      # there is no time for it now: then all is as it was.
      def read(sources, baseline: false)
        return nil if block_given? && yield

        ids = sources.map { |file, _| file.stat.ino }
        @native.begin(unchanged(ids, sources))
        snapshots = sources.each_with_index.map { |(file, used), i| add(file, ids[i], used, i.positive?) }
        @last.keep(ids)
        totals = @native.end(baseline) do |kind, text|
          kind ? Accounting::FlightSites.gem(kind, text) : Tally.folded(text)
        end
        [snapshots, totals]
      end

      def forget_baseline
        @native.forget_baseline
      end

      def before
        @native.before
      end

      def order(...)
        @native.order(...)
      end

      private

      def unchanged(ids, sources)
        ids.zip(sources).filter_map { |id, (_, used)| id if @last.same?(id, used) }
      end

      def add(file, id, used, own)
        @last.take(id, used) do
          raw = Native.tally_flight(@native, file.fileno, id, own)
          raw && Accounting::Flight.of_sums(raw)
        end
      end
    end
  end
end
