# frozen_string_literal: true

require_relative "../leaks"

module Heapline
  module Checks
    # The C functions that asked for what a line holds: of the blocks that were born since some generation and live, the
    # native stack that most of them have. Where live blocks are not kept, nothing is known.
    class NativeFrames
      # since: generation.
      def initialize(since)
        @raw = Heapline::Leaks::Reader.raw(Heapline::Leaks.search(since, true))
        symbols = Heapline::Leaks::Symbols.new(run: Heapline::Leaks::Beside.method(:output))
        @code = Heapline::Leaks::Code.new(@raw["libraries"], machine: @raw["vm"], symbols: symbols)
      rescue NotEnabled, SystemCallError
        @raw = { "records" => [] }
      end

      # Array of NativeFrame of a Model::Location, the caller of malloc first.
      def of(location)
        same = @raw["records"].select { |record| at?(record["site"], location) }.group_by { |record| record["frames"] }
        stack, = same.max_by { |_, records| records.sum { |record| record["blocks"] } }
        stack ? @code.frames([stack]).first : []
      end

      private

      def at?(site, location)
        library = site["library"]
        site["path"] == location.path && (location.path.nil? || site["line"] == location.lineno) &&
          (library && File.basename(library)) == location.library &&
          (location.path || site["offset"] == location.offset)
      end
    end
  end
end
