# frozen_string_literal: true

require_relative "../../format/heap/finding"
require_relative "../../format/heap/instances"
require_relative "question"

module Heapline
  module CLI
    class Heap
      # `heapline heap find FILE ADDRESS|CLASS`: who references it, and the way from a root.
      class Find < Question
        USAGE_LINE = "heap find [options] FILE ADDRESS|CLASS"
        SUMMARY = "Show who references an object or a class's instances, and the path from a root"
        ADDRESS = /\A0x\h{1,16}\z/i

        private

        def define(parser)
          parser.on("--path", "also the shortest path from a root") { @options[:path] = true }
          define_top(parser)
          define_values(parser)
          super
        end

        def answer(words)
          *files, what = words
          raise UsageError, "what in which dump? give a file, and an address (0x…) or a class" if files.empty?

          dump = dump_of(files, index: true)
          options = @options.slice(:top, :path, :values)
          return Format::Heap::Finding.new(**options).sheet(dump, object(dump, what)) if what.match?(ADDRESS)

          Format::Heap::Instances.new(**options).sheet(dump, group(dump, what))
        end

        def group(dump, name)
          groups = dump.histogram(by: :class)
          groups.find { |group| group.key == name } or raise Error, unknown(dump, name, groups)
        end

        # A class may be asked for by its last name.
        def unknown(dump, name, groups)
          near = groups.map(&:key).grep(/(?:\A|::)#{Regexp.escape(name)}/i).first(5)
          meant = near.empty? ? "; heapline heap histo lists the classes" : "; did you mean #{near.join(", ")}?"
          Format::Inert.text("no instance of #{name} in #{dump.name}#{meant}")
        end
      end
    end
  end
end
