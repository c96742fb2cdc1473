# frozen_string_literal: true

require_relative "support"

# The gate that holds sig/ to the library, with signatures of what is gone and methods without any.
class SignaturesTest < Minitest::Test
  include BadTree

  GOOD = {
    "lib/heapline.rb" => <<~RUBY,
      module Heapline
        class Heap
          attr_reader :bytes
          def self.of(path)
          end
          private
          def own
          end
        end
        class Inner
        end
      end
    RUBY
    "sig/heap.rbs" => "module Heapline\n  class Heap\n    attr_reader bytes: Integer\n    " \
                      "def self.of: (String path) -> Heap\n  end\nend\n",
    "docs/api.md" => "`Heapline::Heap` tells.\n"
  }.freeze

  def changed(file, from, to)
    GOOD.merge(file => GOOD.fetch(file).sub(from, to))
  end

  def test_what_differs
    { ["sig/heap.rbs", "bytes", "size"] => /declares Heapline::Heap#size, which is not there\n.*lacks .*Heap#bytes/,
      ["sig/heap.rbs", "class Heap", "class Gone"] => /declares Heapline::Gone, which is not there/,
      ["lib/heapline.rb", "private\n", ""] => /sig.* lacks Heapline::Heap#own/,
      ["lib/heapline.rb", "attr_reader", "attr_accessor"] => /sig.* lacks Heapline::Heap#bytes=/,
      ["docs/api.md", "Heap`", "Inner`"] => /the documents name Heapline::Inner, which has no signature/,
      ["lib/heapline.rb", "class Inner\n", "class Inner\nraise \"no\"\n"] => /cannot be loaded as a whole\n.*no/ }
      .each do |change, pattern|
        assert_gate(pattern, good: GOOD, bad: changed(*change)) { |root| Tasks::SignaturesGate.new(root) }
      end
  end
end
