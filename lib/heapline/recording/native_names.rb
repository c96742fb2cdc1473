# frozen_string_literal: true

require_relative "../places/symbols"
require_relative "model"

module Heapline
  class Capture
    # Functions and lines of native frames, from the libraries that they lie in, where these are still the files that
    # were recorded. Names come from the tools that read debug information; see Places::Symbols.
    # @api private
    class NativeNames
      # identities: { path => which file it was }. now: called with a path, says which file it is, or nil.
      def initialize(identities, now:, symbols: Places::Symbols.new)
        @identities = identities
        @now = now
        @symbols = symbols
        @functions = Places::Functions.new(symbols)
        @notes = []
      end

      # Array of String: libraries whose functions have no names, and why.
      attr_reader :notes

      # { frame => Array of Frame, the outermost first } of those Recording::Frame that can be told more of: where
      # a compiler put functions into one another, they are several. Each library is asked for once.
      def of(frames)
        nameless = frames.select { |frame| frame.native? && frame.label.nil? }.group_by(&:library)
        nameless.select! { |path, _| same?(path) }
        nameless.each_with_object({}) { |(path, inside), all| all.merge!(named(path, inside)) }
      end

      private

      def same?(path)
        recorded = @identities[path] or return false
        found = @now.call(path)
        return tool? if found == recorded

        note("#{path} is not #{found ? "the file that was recorded" : "there any more"}: its functions have no names")
      end

      def tool?
        !@symbols.tool.nil? || note("functions have no names without addr2line: #{Places::Symbols::PACKAGES}")
      end

      # False.
      def note(note)
        @notes |= [note]
        false
      end

      def named(path, frames)
        names = @functions.at(path, frames.map { |frame| address(frame) }.uniq)
        frames.to_h { |frame| [frame, shown(frame, names.fetch(address(frame)))] }.compact
      end

      # What is recorded is where the call returns to; it lies before.
      def address(frame)
        [frame.offset - 1, 0].max
      end

      # nil: nothing is known.
      def shown(frame, names)
        return unless names.any?(&:function)

        names.reverse.map do |name|
          Recording::Frame.new(label: name.function || frame.name, path: name.file, lineno: name.line,
                               library: frame.library)
        end.freeze
      end
    end
  end
end
