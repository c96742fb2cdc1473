# frozen_string_literal: true

require_relative "../places/location"
require_relative "../places/native_frame"
require_relative "../places/symbols"

module Heapline
  module Leaks
    # The code of one process: which library a return address lies in, and what its frames are called.
    class Code
      # A mapping of code: addresses of the process, the file, and where in the file it begins. gone: 1 of a library
      # that was unloaded: its addresses count from where it was loaded.
      Mapping = Struct.new(:path, :begin, :end, :offset, :gone)

      # Of what a search wrote (JsonValue).
      def self.of(raw, symbols:)
        mappings = raw.list("libraries").map do |each|
          Mapping.new(each.text("path"), *%w[begin end offset].map { |key| each.number(key) }, each.number?("gone"))
        end
        new(mappings, machine: raw.number("vm"), symbols: symbols)
      end

      # mappings: Array of Mapping. machine: an address in the Ruby VM.
      def initialize(mappings, machine:, symbols:)
        @mappings = mappings.sort_by(&:begin)
        @functions = Places::Functions.new(symbols)
        @paths = Hash.new { |paths, address| paths[address] = mapping(address)&.path }
        @machine = path(machine)
      end

      # Path of the object that holds the Ruby VM, or nil.
      attr_reader :machine

      # Path of the object at an address, or nil.
      def path(address)
        @paths[address]
      end

      # Frozen Arrays of NativeFrame, one for each stack; a stack is an Array of return addresses. All at once: a tool
      # is asked once for each object. Equal stacks have one Array, and equal addresses the same frames.
      def frames(stacks)
        addresses = stacks.uniq.flatten.uniq
        names = look_up(addresses)
        named = addresses.to_h { |address| [address, named(address, names).freeze] }
        known = Hash.new { |frames, stack| frames[stack] = stack.flat_map { |address| named[address] }.freeze }
        stacks.map { |stack| known[stack] }
      end

      # The same without names: of each frame where it lies.
      def bare(stacks)
        frames = Hash.new do |known, path|
          known[path] = Places::NativeFrame.new(path: path, library: Places::BaseName.of(path), inlined: false)
        end
        known = Hash.new { |all, stack| all[stack] = stack.map { |address| frames[path(address)] }.freeze }
        stacks.map { |stack| known[stack] }
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
        return address - 1 - found.begin if found.gone.to_i.positive?

        @functions.object(found.path).address(address - 1 - found.begin + found.offset)
      end

      def named(address, names)
        path = path(address)
        return [Places::NativeFrame.new(inlined: false)] unless path

        at = in_object(address)
        found = names.fetch(path).fetch(at)
        found.each_with_index.map do |name, index|
          Places::NativeFrame.new(**name.to_h, library: Places::BaseName.of(path), path: path, offset: at,
                                               inlined: index < found.size - 1)
        end
      end
    end
  end
end
