# frozen_string_literal: true

require_relative "../../objects/object_figures"
require_relative "counts"
require_relative "line"

module Heapline
  module GrowthLog
    # What is remembered of one process from line to line, and which sites a line lists.
    #
    # A site that was listed once stays listed, so that its series has no hole. At most 4 × top sites are; beyond that
    # those leave first that rank nowhere now and live the least.
    class Account
      KEEP = 4

      # The number of the next line, and when the last one was written (seconds of the steady clock), or nil.
      attr_reader :seq, :written_at

      # top: so many sites by growth, by live bytes and by allocation rate. forked: the process began with the counts
      # of another one.
      def initialize(top:, forked:)
        @top = top
        @forked = forked
        @last = Counts::NONE
        @now = @inherited = nil
        @listed = []
        @seq = 0
        @past = PastCounts.new
        @listed_at = {}
        @earlier = {}
      end

      # Take the counts of now. Returns the numbers of the sites to list.
      def look(counts)
        @now = counts
        # What lived at the fork, before any later baseline hides it.
        @inherited ||= counts if @forked
        @listed = choose
        @earlier = @written_at ? @past.of(newcomers) : {}
        @listed
      end

      # What a site that the last line did not list was at lines before: Array of [time, live bytes, bytes allocated,
      # generation]; nil for others.
      def earlier(number)
        @earlier[number]
      end

      # Bytes live now minus those live at the start, or at the fork, of the process; whatever baselines came since.
      def growth_bytes(number)
        @now.live_bytes(number) - (@inherited ? @inherited.base_bytes(number) : 0)
      end

      # Bytes allocated since the last line, or nil on the first.
      def allocated_bytes(number)
        @now.bytes_allocated(number) - @last.bytes_allocated(number) if @written_at
      end

      def totals
        totals = @now.totals
        totals.merge(growth_bytes: totals[:live_bytes] - (@inherited ? @inherited.base_total : 0))
      end

      # The line was written at `time`: the next one compares with it. A line that was dropped changes nothing.
      def written(time, generation)
        @last = @now
        @written_at = time
        @past.add(time, generation, @now)
        @listed.each { |number| @listed_at[number] = time }
        @seq += 1
      end

      private

      # Hash of number => when it was listed last, or nil.
      def newcomers
        @listed.to_h { |number| [number, @listed_at[number]] }.reject { |_, time| time == @written_at }
      end

      def choose
        ranked = @now.leading(:growth, @top, before: @inherited || Counts::NONE) | @now.leading(:live, @top) |
                 @now.leading(:allocated, @top, before: @last)
        others = (@listed - ranked).max_by([(KEEP * @top) - ranked.size, 0].max) { |number| @now.live_bytes(number) }
        ranked + others
      end
    end

    # Which Ruby objects a line of the log lists: the first of each class and line by growth and by slot bytes. What was
    # listed once stays listed, as in Account, so that its series has no hole.
    class ObjectAccount
      KEEP = 4

      # top: so many by each of two rankings.
      def initialize(top:)
        @top = top
        @listed = {}
      end

      # The keys of a line for these Objects::Snapshot: sums, and what is listed. nil (objects are not accounted): none.
      def line(objects)
        return {} unless objects

        chosen = choose(objects.by_key)
        @listed = chosen.transform_values { true }
        { object_totals: Objects::ObjectFigures.logged(:totals).to_h { |figure| [figure.data, figure.value(objects)] },
          objects: chosen.values.map { |site| place(site).merge(figures(site)) } }
      end

      private

      # Hash of key => ObjectSite.
      def choose(sites)
        ranked = leading(sites, :growth).merge(leading(sites, :slot_bytes))
        others = sites.select { |key, _| @listed.key?(key) && !ranked.key?(key) }
        ranked.merge(largest(others, [(KEEP * @top) - ranked.size, 0].max, :slot_bytes))
      end

      def leading(sites, figure)
        largest(sites, @top, figure).select { |_, site| site.public_send(figure).positive? }
      end

      def largest(sites, count, figure)
        sites.max_by(count) { |_, site| site.public_send(figure) }.to_h
      end

      def place(site)
        { **Line.place(site).except(:library, :kind), class: Line.text(site.class_name), type: site.type }
      end

      def figures(site)
        Line.figures(site, Objects::ObjectFigures.logged(:site))
      end
    end
  end
end
