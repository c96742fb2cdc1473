# frozen_string_literal: true

require_relative "../model/native_frame"
require_relative "functions"

module Heapline
  module Leaks
    # The code of one process: which library a return address lies in, and what its frames are called.
    class Code
      # A mapping of code: addresses of the process, the file, and where in the file it begins.
      Mapping = Struct.new(:path, :begin, :end, :offset)

      # mappings: Array of Hash with "path", "begin", "end", "offset". machine: an address in the Ruby VM.
      def initialize(mappings, machine:, symbols:)
        @mappings = mappings.map { |each| Mapping.new(*each.values_at("path", "begin", "end", "offset")) }
                            .sort_by(&:begin)
        @functions = Functions.new(symbols)
        @machine = mapping(machine)&.path
      end

      # Path of the object that holds the Ruby VM, or nil.
      attr_reader :machine

      # Path of the object at an address, or nil.
      def path(address)
        mapping(address)&.path
      end

      # Arrays of NativeFrame, one for each stack; a stack is an Array of return addresses. All at once: a tool is asked
      # once for each object.
      def frames(stacks)
        names = look_up(stacks.flatten.uniq)
        stacks.map { |stack| stack.flat_map { |address| named(address, names) } }
      end

      private

      def mapping(address)
        found = @mappings.bsearch_index { |each| each.end > address }
        each = found && @mappings[found]
        each if each && each.begin <= address
      end

      # { path => { address in it => names } }
      def look_up(addresses)
        wanted = addresses.group_by { |address| path(address) }
        wanted.delete(nil)
        wanted.to_h { |path, inside| [path, @functions.at(path, inside.map { |address| in_object(address) }.uniq)] }
      end

      # The call lies before its return address.
      def in_object(address)
        found = mapping(address)
        @functions.object(found.path).address(address - 1 - found.begin + found.offset)
      end

      def named(address, names)
        path = path(address)
        return [Model::NativeFrame.new(inlined: false)] unless path

        at = in_object(address)
        found = names.fetch(path).fetch(at)
        found.each_with_index.map do |name, index|
          Model::NativeFrame.new(**name.to_h, library: File.basename(path), path: path, offset: at,
                                              inlined: index < found.size - 1)
        end
      end
    end
  end
end
