# frozen_string_literal: true

require "stringio"
require "test_helper"
require "support/readers"
require "support/object_snapshots"
require "heapline/accounting/collapsed"
require "support/snapshots"

module Heapline
  module Accounting
    class CollapsedTest < Minitest::Test
      include ObjectSnapshots
      include Readers

      def lines(snapshot, **options)
        rendered(Collapsed, snapshot, **options).force_encoding(Encoding::UTF_8).lines
      end

      def test_a_line_a_stack
        assert_equal ["(application);/app/leak.rb;Object#leak_memory leak.rb:12 51200000\n",
                      "(application);/app/lib/cache.rb;Cache#put cache.rb:88;libxml2.so.2 1020000\n"], lines(leaky)
      end

      def test_another_figure
        assert_match(/leak.rb:12 100000$/, lines(leaky, figure: :allocations).first)
        assert_equal 1, lines(leaky, top: 1).size
      end

      # Every reader of the format splits at the last blank and then at semicolons.
      def test_hostile_names_are_inert
        found = lines(hostile)
        assert_equal HOSTILE.size, found.size
        found.each do |line|
          assert_match(/\A(?:[^;\p{C}]*;){3}[^;\p{C}]* \d+\n\z/, line)
        end
        assert_equal (1000...(1000 + HOSTILE.size)).to_a, found.map { |line| line[/ (\d+)$/, 1].to_i }.sort
      end

      def test_ruby_objects_end_in_their_class
        assert_includes lines(leaky_objects, objects: true),
                        "(application);/app/leak.rb;Object#leak_memory leak.rb:12;Shop::Order 2000000\n"
        assert_equal lines(leaky), lines(leaky_objects)
        assert_equal HOSTILE.size, lines(hostile_objects, objects: true).size
      end
    end

    class StacksTest < Minitest::Test
      include Snapshots

      def names(site)
        stacks = Stacks.new
        stack = stacks.of(site)
        stacks.frames.values_at(*stack).map(&:name)
      end

      def at(**place)
        Site.new(location: Places::Location.new(**place), kind: :native, **Site::ZERO)
      end

      def test_a_ruby_line
        assert_equal ["rack", "/g/gems/rack-3.0/lib/a.rb", "A#b a.rb:7", "libz.so.1"],
                     names(site("/g/gems/rack-3.0/lib/a.rb", 7, label: "A#b", library: "libz.so.1"))
        assert_equal ["(application)", "app.rb", "app.rb:7"], names(site("app.rb", 7))
      end

      def test_native_code_and_special_sites
        assert_equal ["(application)", "libz.so.1", "deflate+0x2 libz.so.1+0x1f30"],
                     names(at(library: "libz.so.1", offset: 0x1f30, label: "deflate+0x2"))
        assert_equal ["ruby core", "ruby", "ruby+0x10"], names(at(offset: 0x10))
        assert_equal ["(other)"], names(at(special: "(other)"))
      end

      def test_equal_stacks_are_added_up_and_only_what_has_a_width_is_there
        sites = [site("a.rb", 1, live_bytes: 1, tag: "x"), site("a.rb", 1, live_bytes: 2, tag: "y"),
                 site("b.rb", 1, live_bytes: 4), site("c.rb", 1, live_bytes: -9), site("d.rb", 1)]
        stacks = Stacks.new
        widths = stacks.widths(sites, :live_bytes)
        frames = stacks.frames
        assert_equal({ "b.rb:1" => 4, "a.rb:1" => 3 }, widths.transform_keys { |stack| frames[stack.last].name })
      end
    end
  end
end
