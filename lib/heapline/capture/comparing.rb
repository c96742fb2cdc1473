# frozen_string_literal: true

require_relative "../model/capture/change"
require_relative "../model/normalised_location"

module Heapline
  class Capture
    # Two recordings beside each other. Places are the same where they are so without what changes from deploy to deploy
    # (release folders, versions of gems and libraries).
    class Comparing
      LIBRARY = /\S+\.so[.\d]*/
      NOTHING = Model::Capture::Sums.of([0] * Model::Capture::Sums.members.size)

      # before, after: Capture
      def initialize(before, after)
        @before = before
        @after = after
      end

      # Array of Model::Capture::Change of all that there is in either. by: as for Capture#sites, or :stack
      def changes(by: :line)
        before, after = [@before, @after].map { |capture| groups(capture, by) }
        (before.keys | after.keys).map do |key|
          was = before[key]
          is = after[key]
          name, label, = is || was
          Model::Capture::Change.new(key: name, label: label, before: was ? was.last : NOTHING,
                                     after: is ? is.last : NOTHING)
        end
      end

      private

      # { what makes it the same => [name, label, Sums] }
      def groups(capture, by)
        rows = by == :stack ? stacks(capture) : sites(capture, by)
        rows.each_with_object({}) do |(same, name, label, sums), all|
          found = all[same]
          all[same] = [name, label, found ? found.last + sums : sums]
        end
      end

      def sites(capture, by)
        capture.sites(by: by).map { |group| [normalised(group.key), group.key, group.label, group.sums] }
      end

      def stacks(capture)
        names = Hash.new { |all, frame| all[frame] = same_frame(frame) }.compare_by_identity
        capture.stacks.map { |stack| [stack.frames.map { |frame| names[frame] }, stack.frames, nil, stack.sums] }
      end

      def same_frame(frame)
        [frame.label, normalised(frame.place.to_s), *(frame.offset if frame.native? && !frame.label)]
      end

      def normalised(place)
        Model::NormalisedLocation.of(place).gsub(LIBRARY) { |library| Model::NormalisedLocation.library(library) }
      end
    end
  end
end
