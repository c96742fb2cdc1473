# frozen_string_literal: true

require_relative "support"

# The gate that holds docs/api.md to the sources, with a page that lacks and a page that lists too much.
class ApiTest < Minitest::Test
  include BadTree

  GOOD = {
    "lib/heapline/heap.rb" => <<~RUBY,
      module Heapline
        # Tells.
        class Heap
          # @api private
          class Inner
          end
        end
        # A room.
        # @api private
        module Room
          class Own
          end
          # @api public
          Row = Struct.new(:bytes)
        end
      end
    RUBY
    "sig/heap.rbs" => <<~RBS,
      module Heapline
        def self.measure: () -> Heap
        class Heap
          attr_reader bytes: Integer
          def initialize: () -> void
        end
        module Room
          class Row
            attr_reader bytes: Integer
          end
        end
      end
    RBS
    "docs/api.md" => "| `Heapline` | `.measure` |\n| `Heapline::Heap` | `bytes` |\n" \
                     "| `Heapline::Room::Row` | `bytes` |\n"
  }.freeze

  def test_what_differs
    { ["lib/heapline/heap.rb", "    # @api private\n", ""] => /lacks a row for Heapline::Heap::Inner/,
      ["lib/heapline/heap.rb", "# @api private\n  module", "module"] => /lacks .* Heapline::Room:.*\n.*Room::Own/,
      ["lib/heapline/heap.rb", "    # @api public\n", ""] => /lists Heapline::Room::Row, which .* is `@api private`/,
      ["docs/api.md", "`Heapline::Heap`", "`Heapline::Gone`"] => /lists Heapline::Gone, which is not there/,
      ["docs/api.md", "`.measure`", "-"] => /lacks \.measure in the row of Heapline$/,
      ["docs/api.md", "`bytes` |", "`bytes` `size` |"] => %r{lists size of Heapline::Heap, which sig/ does not} }
      .each do |(file, from, to), pattern|
        bad = GOOD.merge(file => GOOD.fetch(file).sub(from, to))
        assert_gate(pattern, good: GOOD, bad: bad) { |root| Tasks::ApiGate.new(root) }
      end
  end
end
