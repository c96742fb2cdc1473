# frozen_string_literal: true

require_relative "changes"
require_relative "snapshot"

module Heapline
  module Model
    # What grew between two snapshots: of one process at two times, or of two processes, such as two deploys. Of two
    # processes the locations are compared without what a deploy changes: release directories, versions of gems, of
    # Ruby and of libraries. Frozen.
    class Comparison
      # A report in JSON has microseconds, a flight file nanoseconds.
      SAME_START = 0.001

      # before, after: Snapshot. changes: Array of Changes::Change in no order, sites without any difference left out.
      # objects: the Changes of the Ruby objects, or nil where not both snapshots know of them.
      attr_reader :before, :after, :objects

      def initialize(before, after)
        @before = before
        @after = after
        @sites = Changes.new(before, after, exact: same_process?)
        @objects = Changes.new(before.objects, after.objects, exact: same_process?) if before.objects && after.objects
        freeze
      end

      def changes
        @sites.list
      end

      # One process at two times, and not two processes?
      def same_process?
        before.pid == after.pid && !before.started_at.nil? && !after.started_at.nil? &&
          (before.started_at - after.started_at).abs < SAME_START
      end

      # Seconds between the two (Float); nil where unknown.
      def seconds
        times = [before, after].map { |snapshot| snapshot.ended_at || snapshot.taken_at }
        times.last - times.first if times.all?
      end

      # The changes summed by :gem, :file, :library, :tag or :location, in no order.
      def sums(key)
        @sites.sums(key)
      end

      # The differences as a Snapshot, for formats of those: live and growth are both the change of what lives.
      def difference
        after.with(sites: @sites.differences, objects: @objects && Objects.new(@objects.differences))
      end
    end
  end
end
