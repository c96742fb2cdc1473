# frozen_string_literal: true

require_relative "model"
require_relative "../places/location"

module Heapline
  class Capture
    # Two recordings beside each other. Places are the same where they are so without what changes from deploy to deploy
    # (release folders, versions of gems and libraries).
    class Comparing
      LIBRARY = /\S+\.so[.\d]*/
      NOTHING = Recording::Sums.of([0] * Recording::Sums.members.size)

      # before, after: Capture
      def initialize(before, after)
        @before = before
        @after = after
        @files = Hash.new { |all, path| all[path] = without_changes(path) }
      end

      # Array of Recording::Change of all that there is in either. by: as for Capture#sites, or :stack
      def changes(by: :line)
        before, after = [@before, @after].map { |capture| groups(capture, by) }
        (before.keys | after.keys).map do |key|
          was = before[key]
          is = after[key]
          name, label, = is || was
          Recording::Change.new(key: name, label: label, before: was ? was.last : NOTHING,
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

      # A file has many lines and is looked at once.
      def normalised(place)
        line = place.b[/:\d+\z/]
        line ? "#{@files[place.b.delete_suffix(line)]}#{line}" : without_changes(place)
      end

      def without_changes(place)
        Places::NormalisedLocation.of(place).gsub(LIBRARY) { |library| Places::NormalisedLocation.library(library) }
      end
    end
  end
end
