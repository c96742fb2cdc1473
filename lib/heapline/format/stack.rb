# frozen_string_literal: true

require_relative "../model/snapshot"

module Heapline
  module Format
    # A site as a stack for tools that draw stacks: its gem, its file, its line and method, and the library that called
    # malloc where that was not Ruby itself, or of Ruby objects their class. Names are as the program has them: the
    # format makes them inert.
    module Stack
      # name: what is shown; file and line: where it is, or nil.
      Frame = Struct.new(:name, :file, :line)

      # Frames of a site, the outermost first.
      def self.of(site)
        kind = site.kind == :object ? [Frame.new(site.name)] : []
        [*place(site.location), *kind]
      end

      # { frames => width } of those sites whose `figure` is above 0; equal stacks are added up. The largest first.
      def self.widths(sites, figure)
        sums = sites.each_with_object(Hash.new(0)) do |site, widths|
          width = site.public_send(figure)
          widths[of(site)] += width if width.positive?
        end
        sums.sort_by.with_index { |(_, width), index| [-width, index] }.to_h
      end

      def self.place(place)
        return [Frame.new(place.special)] if place.special

        outer = Frame.new(place.gem || Model::Snapshot::UNNAMED[:gem])
        place.path ? [outer, *ruby(place)] : [outer, *native(place)]
      end

      def self.ruby(place)
        line = [base_name(place.path), place.lineno].compact.join(":")
        frames = [Frame.new(place.path, place.path),
                  Frame.new([place.label, line].compact.join(" "), place.path, place.lineno)]
        place.via ? [*frames, Frame.new(place.via, place.library_path)] : frames
      end

      def self.native(place)
        library = place.library || Model::Snapshot::UNNAMED[:library]
        [Frame.new(library, place.library_path), Frame.new([place.label, place.to_s].compact.join(" "),
                                                           place.library_path)]
      end

      def self.base_name(path)
        path.b.rpartition("/").last.force_encoding(Encoding::UTF_8)
      end
      private_class_method :place, :ruby, :native, :base_name
    end
  end
end
