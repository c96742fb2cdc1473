# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/object_snapshots"
require "heapline/format/comparison_text"
require "heapline/model/comparison"

module Heapline
  module Format
    # Ruby objects in a comparison; malloc's table is in the test of ComparisonText.
    class ComparisonTableTest < Minitest::Test
      include ObjectSnapshots

      def text(**options)
        before = leaky_objects
        added = objects_at("/app/new.rb", 3, "Hash", label: "New#new", allocated: 10, freed: 2)
        after = before.with(objects: objects(*before.objects, added))
        io = StringIO.new
        ComparisonText.new(directory: "/app", env: { "LANG" => "C.UTF-8", "COLUMNS" => "100" }, **options)
                      .render(Model::Comparison.new(before, after), io)
        io.string
      end

      def test_objects_in_objects
        assert_includes text, <<~TEXT.gsub(/^(?=.)/, "  ")
          objects

          growth▼  after  slots  allocated  class  location
                8      8  320 B         10  Hash   new.rb:3  New#new
          1 site with a difference: 1 grew by 8 · 0 shrank by 0 · 1 shown
        TEXT
      end

      def test_both_halves_or_objects_alone
        assert_match(/nothing differs.*objects/m, text)
        refute_match(/nothing differs/, text(objects: true))
        assert_match(/slots  allocated  class\n.* Hash\n/, text(by: :class))
        refute_match(/objects/, text(by: :library))
      end
    end
  end
end
