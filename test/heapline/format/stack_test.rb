# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/format/stack"

module Heapline
  module Format
    class StackTest < Minitest::Test
      include Snapshots

      def names(site)
        Stack.of(site).map(&:name)
      end

      def at(**place)
        Model::Site.new(location: Model::Location.new(**place), kind: :native, **Model::Site::ZERO)
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
        assert_equal({ "b.rb:1" => 4, "a.rb:1" => 3 },
                     Stack.widths(sites, :live_bytes).transform_keys { |frames| frames.last.name })
      end
    end
  end
end
