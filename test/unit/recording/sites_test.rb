# frozen_string_literal: true

require "test_helper"
require "heapline/recording/sites"
require "heapline/recording/model"

module Heapline
  class Capture
    class SitesTest < Minitest::Test
      FRAMES = [nil,
                Recording::Frame.new(label: "App#run", path: "/app/a.rb", lineno: 3),
                Recording::Frame.new(library: "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", offset: 5),
                Recording::Frame.new(label: "parse", library: "/gems/nokogiri-1.1/nokogiri.so", offset: 9)].freeze
      ONE = [1, 10, 1, 10, 0, 0, 1, 10].freeze

      def sites(*keys)
        rows = keys.map { |key| [*key.first(4), key[4] || 0, *ONE] }
        Sites.new(rows, FRAMES, [nil, "main"], [nil, "a"], [nil, "Foo"])
      end

      def keys(sites, by)
        sites.groups(by).map { |group| [group.key, group.sums.allocations] }
      end

      def test_a_place_is_the_line_and_the_library_that_is_not_ruby
        found = sites([1, 2, 1, 0], [1, 3, 1, 1], [0, 3, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0])
        assert_equal [["(unknown)", 1], ["/app/a.rb:3", 2], ["/app/a.rb:3 via nokogiri.so", 1],
                      ["libruby-3.1.so.3.1+0x5", 1], ["nokogiri.so+0x9", 1]], keys(found, :line).sort
        assert_equal [["nokogiri.so", 2], ["ruby", 4]], keys(found, :library).sort
        assert_equal [["(application)", 3], ["(unknown)", 1], ["nokogiri", 1], ["ruby core", 1]], keys(found, :gem).sort
        assert_equal [["(unknown)", 4], ["main", 2]], keys(found, :thread)
        assert_equal [["(no tag)", 5], ["a", 1]], keys(found, :tag)
        assert_equal [["(unknown)", 2], ["App#run", 3], ["parse", 1]], keys(found, :method).sort
        assert_equal [["/app/a.rb", 3], ["/gems/nokogiri-1.1/nokogiri.so", 1]], keys(found, :file).values_at(0, 2)
      end

      def test_a_line_is_called_as_the_method_that_holds_most
        twin = Recording::Frame.new(label: "App#twin", path: "/app/a.rb", lineno: 3)
        rows = [[1, 0, 0, 0, 0, *ONE], [4, 0, 0, 0, 0, 1, 90, 1, 11, 0, 0, 1, 10]]
        group, = *Sites.new(rows, [*FRAMES, twin], [nil], [nil], [nil]).groups(:line)
        assert_equal ["/app/a.rb:3", "App#twin", 2], [group.key, group.label, group.sums.allocations]
      end

      # It is the label where there is no line of Ruby.
      def test_the_function_that_allocated
        outer, inner = %w[outer inner].map { |name| Recording::Frame.new(label: name, library: "/x/r.so") }
        rows = [[0, 2, 0, 0, 0, *ONE], [1, 2, 0, 0, 0, *ONE]]
        sites = Sites.new(rows, FRAMES, [nil], [nil], [nil], { FRAMES[2] => [outer, inner] })
        assert_equal([["/app/a.rb:3", "App#run"], ["libruby-3.1.so.3.1+0x5", "inner"]],
                     sites.groups(:line).map { |group| [group.key, group.label] })
        assert_equal [["App#run", 1], ["inner", 1]], keys(sites, :method)
      end

      def test_by_class
        found = sites([1, 2, 1, 0, 1], [1, 0, 0, 0, 1], [1, 0, 0, 0])
        assert_equal [["(unknown)", 1], ["Foo", 2]], keys(found, :class).sort
      end

      def test_what_is_no_group
        assert_raises(ArgumentError) { sites.groups(:colour) }
      end
    end
  end
end
