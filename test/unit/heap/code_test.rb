# frozen_string_literal: true

require "test_helper"
require "json"
require "support/code_lines"
require "heapline/heap/code"

module Heapline
  module Heap
    class CodeTest < Minitest::Test
      include CodeLines

      def sites
        CodeLines::SITES.lines.map { |line| LiveSite.of(JsonValue.parse(line, "x")) }
      end

      def test_a_line_and_a_library
        ruby, native, = sites
        assert_equal [7, "lib/pages.rb:12", "Pages#compile", 5000, 8, nil],
                     [ruby.number, ruby.location.to_s, ruby.location.label, ruby.live_bytes, ruby.live_blocks,
                      ruby.live_objects]
        assert_equal ["libruby.so.3.4+0x1000", "ruby core"], [native.location.to_s, native.location.gem]
      end

      def figures(by, *names)
        code.groups(by).to_h { |group| [group.key, group.to_h.values_at(*names)] }
      end

      def test_the_process
        assert_equal [4711, 9, Time.utc(2026, 11, 21, 10), []],
                     [code.pid, code.generation, code.time, code.problems]
        assert_equal %w[0x10 0x18 0x20 0x28 0x30 0x38], (code.pieces.map { |piece| format("0x%x", piece.address) })
        assert(code.pieces.all?(&:frozen?))
      end

      def test_the_oldest_of_each_place_is_no_copy
        assert_equal [0x20, 0x28], code.pieces.select(&:copy).map(&:address)
        assert_equal [6, 2500, 2, 700, 1, 1, 5], code.total.to_h.values_at(
          :count, :bytes, :copies, :copy_bytes, :unreached, :oldest, :newest
        )
      end

      # Two blocks on one line are two places.
      def test_columns_tell_blocks_of_a_line_apart
        text = TEXT.sub('"column":5', '"column":9')
        assert_equal [0x20], code(text).pieces.select(&:copy).map(&:address)
      end

      def test_by_file
        assert_equal({ "app.erb" => [4, 1400, 2, 0], "/g/gems/shop-1.2/shop.rb" => [2, 1100, 0, 700] },
                     figures(:file, :count, :bytes, :copies, :live_bytes))
      end

      def test_by_method
        assert_equal({ ["app.erb", "render", 1] => [4, 1400, 0], ["/g/gems/shop-1.2/shop.rb", "Shop.open", 3] =>
                       [1, 600, 700], ["/g/gems/shop-1.2/shop.rb", "<class:Shop>", 1] => [1, 500, 0] },
                     figures(:method, :count, :bytes, :live_bytes))
      end

      def test_by_line
        assert_equal({ "app.erb:1" => [2, 800], "app.erb:2" => [2, 600], "/g/gems/shop-1.2/shop.rb:3" => [1, 600],
                       "/g/gems/shop-1.2/shop.rb:1" => [1, 500] }, figures(:line, :count, :bytes))
      end

      def test_by_gem
        assert_equal({ "(application)" => [1400, 5000], "shop" => [1100, 700] }, figures(:gem, :bytes, :live_bytes))
      end

      def test_by_the_line_that_had_it_compiled
        assert_equal({ "lib/pages.rb:12" => [4, 2, 5000, 3, 5, 0x20],
                       "libruby.so.3.4+0x1000" => [2, 0, 90, 1, 1, 0x30] },
                     figures(:site, :count, :copies, :live_bytes, :oldest, :newest, :example))
      end

      def test_without_malloc
        bare = code(FIRST + CODE)
        assert_equal [%i[births malloc], [nil]], [bare.lacking, bare.groups(:file).map(&:live_bytes).uniq]
        assert_empty code.lacking
      end

      def test_objects_where_they_were_accounted
        text = TEXT.sub('"live_blocks":8', '"live_blocks":8,"live_objects":3')
        assert_equal [3, 0], code(text).groups(:site).map(&:live_objects)
        assert_equal [nil, nil], code.groups(:site).map(&:live_objects)
      end

      def test_other_lines
        ["", "{", "[]\n", CODE, FIRST + CODE.sub("0x10", "x")].each do |text|
          assert_raises(InputError) { code(text) }
        end
      end

      def test_no_code
        assert_nil code(FIRST).total
        assert_empty code(FIRST).groups(:file)
      end

      # As a reader of dumps answers.
      ROWS = [[16, "app.erb", "render", "render", 400, nil, nil, nil],
              [24, "app.erb", "block in render", "render", 300, "pages.rb", 12, 3],
              [32, "app.erb", "render", "render", 400, "pages.rb", 12, 4], [40, nil, nil, nil, 100, nil, nil, nil],
              [48, nil, nil, nil, 100, nil, nil, nil]].freeze

      def test_a_dump_by_another_tool
        code = Code.of_rows(ROWS, problems: ["cut"])
        assert_equal [[32], %i[lines malloc], ["cut"]],
                     [code.pieces.select(&:copy).map(&:address), code.lacking, code.problems]
        assert_equal [["app.erb", 3], ["(not known)", 2]], (code.groups(:file).map { |group| group.to_a.first(2) })
        newest = code.groups(:site).to_h { |group| [group.key, group.newest] }
        assert_equal({ "pages.rb:12" => 4, "(not known)" => nil }, newest)
      end
    end
  end
end
