# frozen_string_literal: true

require "json"
require_relative "../version"
require_relative "../terminal/inert"
require_relative "../table/selection"
require_relative "collapsed"

module Heapline
  module Accounting
    # A snapshot for https://www.speedscope.app: two profiles, live and allocated bytes, over the frames of Stacks, and
    # the same of the slots of Ruby objects where they were accounted. Where nobody says how many sites, those beyond
    # the first MOST are one stack, so that the sums are those of the process. The layout is that of
    # https://www.speedscope.app/file-format-schema.json. Output is ASCII.
    class Speedscope
      CONTENT_TYPE = "application/json"
      SCHEMA = "https://www.speedscope.app/file-format-schema.json"
      # title => figure of Site
      PROFILES = { "live bytes" => :live_bytes, "allocated bytes" => :bytes_allocated }.freeze
      OBJECTS = { "live objects (bytes of slots)" => :live_bytes,
                  "allocated objects (bytes of slots)" => :bytes_allocated }.freeze
      # Stacks of more sites are more than a browser draws, and take longer to write than one waits.
      MOST = 50_000
      OTHERS = Places::Location.new(special: "(other sites)")

      # top, sort, min: see Selection; top 0 is all.
      def initialize(top: MOST, sort: :live_bytes, min: 0)
        @selection = Table::Selection.new(top: top, sort: sort, min: min)
      end

      # Write one JSON object and a line end to `io`.
      def render(snapshot, io)
        io.write("#{JSON.generate(to_h(snapshot), ascii_only: true)}\n")
      end

      # The object as a Hash.
      def to_h(snapshot)
        @stacks = Stacks.new
        @places = {}
        profiles = profiles(PROFILES, snapshot) + (snapshot.objects ? profiles(OBJECTS, snapshot.objects) : [])
        name = [snapshot.command && text(snapshot.command.join(" ")), "(pid #{snapshot.pid})"].compact.join(" ")
        { "$schema": SCHEMA, exporter: "heapline #{VERSION}", name: name, activeProfileIndex: 0,
          shared: { frames: frames }, profiles: profiles }
      end

      private

      def profiles(kinds, collection)
        sites = @selection.of(collection.sites)
        sites += [others(collection, sites)] if @selection.top == MOST && sites.size == MOST
        kinds.map { |title, figure| profile(title, @stacks.widths(sites, figure)) }
      end

      def others(collection, sites)
        left = PROFILES.each_value.to_h do |figure|
          all = collection.is_a?(Snapshot) ? collection.public_send(figure) : collection.sites.sum(&figure)
          [figure, all - sites.sum(&figure)]
        end
        Site.new(location: OTHERS, **left)
      end

      def profile(title, widths)
        { type: "sampled", name: title, unit: "bytes", startValue: 0, endValue: widths.values.sum,
          samples: widths.keys.map { |stack| stack.map { |frame| @places[frame] ||= @places.size } },
          weights: widths.values }
      end

      # In the order in which samples have them.
      def frames
        all = @stacks.frames
        @places.each_key.map { |number| frame_to_h(all[number]) }
      end

      def frame_to_h(frame)
        { name: text(frame.name), file: frame.file && text(frame.file), line: frame.line }.compact
      end

      def text(value)
        Inert.text(value)
      end
    end
  end
end
