# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../table/selection"
require_relative "snapshot"

module Heapline
  module Accounting
    # Collapsed ("folded") stacks, as flame graph tools read them: a line a stack, `gem;file;line and method;library
    # bytes`. Only what is above zero has a width; equal stacks are one line.
    class Collapsed
      CONTENT_TYPE = "text/plain; charset=utf-8"

      # figure: the figure of Site that is the width. objects: Ruby objects, with their class as the last frame, instead
      # of malloc. top, sort, min: see Selection; the defaults write all.
      def initialize(figure: :live_bytes, objects: false, top: 0, sort: figure, min: 0)
        @figure = figure
        @objects = objects
        @selection = Table::Selection.new(top: top, sort: sort, min: min)
      end

      # Write the stacks to `io`, those with the most bytes first.
      def render(snapshot, io)
        sites = (@objects ? snapshot.objects : snapshot).sites
        stacks = Stacks.new
        widths = stacks.widths(@selection.of(sites), @figure)
        names = stacks.frames.map { |frame| folded(frame) }
        widths.each { |frames, width| io.write("#{names.values_at(*frames).join(";")} #{width}\n") }
      end

      private

      # What stands between frames must not stand in one.
      def folded(frame)
        Inert.text(frame.name).tr(";", ":")
      end
    end

    # Sites as stacks for tools that draw stacks: of each its gem, its file, its line and method, and the library that
    # called malloc where that was not Ruby itself, or of Ruby objects their class. Frames are numbers, as there may be
    # a million. Names are as the program has them: the format makes them inert.
    class Stacks
      # name: what is shown; file and line: where it is, or nil.
      Frame = Struct.new(:name, :file, :line)

      def initialize
        @numbers = {}
        @files = {}
      end

      # Array of Frame, by number.
      def frames
        @numbers.keys.map { |values| Frame.new(*values) }
      end

      # Frames (Array of Integer) of a site, the outermost first.
      def of(site)
        stack = place(site.location)
        stack << number(site.name) if site.kind == :object
        stack
      end

      # { frames => width } of those sites whose `figure` is above 0; equal stacks are added up. The largest first.
      def widths(sites, figure)
        sums = sites.each_with_object(Hash.new(0)) do |site, widths|
          width = site.public_send(figure)
          widths[of(site)] += width if width.positive?
        end
        sums.sort_by.with_index { |(_, width), index| index - (width * sums.size) }.to_h
      end

      private

      def number(name, file = nil, line = nil)
        @numbers[[name, file, line]] ||= @numbers.size
      end

      def place(place)
        return [number(place.special)] if place.special

        place.path ? ruby(place) : native(place)
      end

      def ruby(place)
        path = place.path
        gem, file, base = @files[path] ||= [gem(place), number(path, path), Places::BaseName.of(path)]
        line = [base, place.lineno].compact.join(":")
        stack = [gem, file, number([place.label, line].compact.join(" "), path, place.lineno)]
        stack << number(place.via, place.library_path) if place.via
        stack
      end

      def native(place)
        library = place.library || Snapshot::UNNAMED[:library]
        [gem(place), number(library, place.library_path),
         number([place.label, place.to_s].compact.join(" "), place.library_path)]
      end

      def gem(place)
        number(place.gem || Snapshot::UNNAMED[:gem])
      end
    end
  end
end
