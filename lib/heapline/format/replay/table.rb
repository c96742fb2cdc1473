# frozen_string_literal: true

require_relative "../grid"
require_relative "columns"

module Heapline
  module Format
    module Replay
      # The variants of a Model::Replay::Comparison as aligned lines, the least RSS first.
      class Table < Grid
        def initialize(comparison, terminal:)
          columns = Columns.new(comparison)
          sort = columns.sort
          rows = comparison.variants.sort_by { |variant| variant.estimate(sort).median }
          super(rows, columns: columns.all(sign: terminal.sign("±")), sort: sort, terminal: terminal,
                      dispensable: Columns::LEAST, name: "allocator")
        end

        private

        def cell(variant)
          cut(@terminal.inert(variant.name), room)
        end
      end
    end
  end
end
