# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"
require "heapline/format/html"

module Heapline
  module Format
    class Html
      class SiteColumnsTest < Minitest::Test
        include ObjectSnapshots

        def columns(*sites)
          made = SiteColumns.new(sites)
          [made.to_h, made.strings]
        end

        def test_names_are_numbers_of_strings_and_none_is_the_first
          found, strings = columns(site("/g/gems/rack-1.0/a.rb", 7, label: "A#b", library: "liba.so", tag: "t"),
                                   site("/g/gems/rack-1.0/a.rb", 8))
          names = %i[place label library gem tag].map { |name| found[name].map { |number| strings[number] } }
          assert_equal [["/g/gems/rack-1.0/a.rb"] * 2, ["A#b", ""], ["liba.so", ""], %w[rack rack], ["t", ""]], names
          assert_equal [7, 8], found[:line]
          assert_equal strings.uniq, strings
        end

        def test_native_code_has_a_name_and_no_line
          place = Model::Location.new(library: "libxml2.so.2", offset: 0x1f30)
          native = Model::Site.new(location: place, kind: :native, **Model::Site::ZERO)
          found, strings = columns(native, site("<main>", 0))
          assert_equal [-1, 0], found[:line]
          assert_equal "libxml2.so.2+0x1f30", strings[found[:place].first]
        end

        def test_a_figure_a_column
          found, = columns(site("a.rb", 1, live_bytes: 5, frees: 3), site("b.rb", 1, age_ms_max: 9))
          assert_equal [[5, 0], [3, 0], [0, 9]], found.values_at(:live_bytes, :frees, :age_ms_max)
        end

        def test_the_page_knows_the_same_figures
          source = File.read(File.join(ROOT, "assets/src/data.ts"))[/FIGURES = \[(.*?)\]/m, 1]
          assert_equal SiteColumns::FIGURES.map(&:to_s), source.scan(/"(\w+)"/).flatten
        end

        def test_ruby_objects_have_a_class
          found, strings = columns(site("a.rb", 1, live_bytes: 5), objects_at("a.rb", 1, "Order", allocated: 3),
                                   objects_at("a.rb", 1, nil, type: "T_IMEMO", allocated: 1))
          assert_equal(["", "Order", "T_IMEMO"], found[:class].map { |number| strings[number] })
          assert_equal [[5, 120, 40], [0, 3, 1]], found.values_at(:live_bytes, :live_blocks)
          refute columns(site("a.rb", 1)).first.key?(:class)
        end
      end
    end
  end
end
