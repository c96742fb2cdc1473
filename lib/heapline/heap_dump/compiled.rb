# frozen_string_literal: true

require_relative "../model/code"

module Heapline
  class HeapDump
    # The compiled code in a dump: what heapline wrote of it, or else what any dump tells: path, label and bytes, and,
    # with tracing, where and when it was compiled.
    class Compiled
      # native: Native::HeapDump. index: called where the references are wanted.
      def initialize(native, index)
        @native = native
        @index = index
      end

      # Model::Code
      def code
        notes = @native.notes
        return Model::Code.parse(notes, problems: @native.problems) if notes.include?('"HEAPLINE_CODE"')

        @index.call
        Model::Code.new(@native.code_rows.map { |row| piece(*row) }, problems: @native.problems, **origin)
      end

      private

      # As Native::HeapDump#code_rows has it. path and labels: nil where the dump does not tell.
      def piece(address, path, label, base_label, bytes, file, line, generation)
        birth = file && Model::Location.new(path: file, lineno: line)
        Model::CodePiece.new(address: address, path: path, label: label, method_name: base_label, bytes: bytes,
                             birth: birth, generation: generation)
      end

      def origin
        totals = @native.totals
        { pid: totals[:pid], ruby: totals[:ruby] }
      end
    end
  end
end
