# frozen_string_literal: true

require "test_helper"
require "heapline/compat/mwrap_rack"

class MwrapRackTest < Minitest::Test
  ROWS = [Heapline::Row.new("app.rb:1", 5000, 10, 4, 2000, 8, 3, 4, 3000, 6),
          Heapline::Row.new("<b>.rb:2", 3000, 20, 0, 0, 0, 0, 0, 3000, 20)].freeze

  def test_the_first_page_leads_to_the_list
    assert_includes get("/").last, 'href="/MWRAP/each/2000"'
    assert_includes get("").last, 'href="/MWRAP/each/2000"'
  end

  def test_each_is_more_than_so_many_bytes
    assert_equal %w[app.rb:1 &lt;b&gt;.rb:2], locations("/each/2000")
    assert_equal %w[app.rb:1], locations("/each/3000")
    assert_empty locations("/each/5000")
  end

  def test_each_sorts
    { "allocations" => true, "frees" => false, "bytes" => false, "location" => true, "mean_life" => true,
      "nonsense" => false }.each do |column, second_first|
      expected = %w[app.rb:1 &lt;b&gt;.rb:2]
      assert_equal second_first ? expected.reverse : expected, locations("/each/0", "sort=#{column}"), column
    end
  end

  def test_at_shows_one
    assert_includes at { [] }, "<td>5000</td><td>10</td><td>4</td><td>3000</td><td>2.000</td><td>3</td>"
    replacing(Mwrap::SourceLocation, :find, nil) { assert_equal 200, get("/at/%3Cb%3E.rb:2").first }
    assert_equal 404, get("/at/none.rb:1").first
  end

  Blocks = Struct.new(:answer) do
    def live_blocks
      answer.call
    end
  end

  def test_at_shows_the_live_blocks_the_largest_first
    body = at { [[0x7f10, 16, 3], [0x7f40, 900, 4]] }
    assert_match %r{2 live blocks</h1>.*<td>900</td><td>4</td><td>0x7f40</td>.*<td>16</td>}m, body
    many = at { Array.new(MwrapRack::BLOCKS + 1) { |number| [number, 1, 1] } }
    assert_includes many, "10001 live blocks, the largest 10000<"
    assert_equal MwrapRack::BLOCKS, many.scan("<td>0x").size
  end

  def test_at_says_where_blocks_are_not_kept
    assert_includes at { raise Heapline::NotEnabled }, "heapline --mwrap"
  end

  def test_pages_of_the_object_heap
    status, _, body = MwrapRack.new.call(environment("/heap_pages", ""))
    body = body.join
    assert_equal 200, status
    assert_match %r{<td>-1</td><td>lifespan_max</td>.*<td>0</td><td>resurrects</td>}m, body
    assert_match %r{<td>\d+</td><td>heap_allocated_pages</td>}, body
    assert_includes get("/").last, 'href="/MWRAP/heap_pages"'
  end

  def test_without_the_preload_there_is_nothing
    status, _, body = MwrapRack.new.call(environment("/each/0", ""))
    assert_equal 200, status
    refute_includes body.join, "<td>"
  end

  def test_a_token_in_the_environment_guards_it
    ENV["HEAPLINE_TOKEN"] = "0123456789abcdef"
    assert_equal 401, get("/").first
  ensure
    ENV.delete("HEAPLINE_TOKEN")
  end

  def test_all_else_is_missing
    ["/each/", "/each/x", "/heap_pages/", "/at/"].each { |path| assert_equal 404, get(path).first, path }
  end

  private

  # The page of a location whose live blocks are those.
  def at(&blocks)
    replacing(Mwrap::SourceLocation, :find, Blocks.new(blocks)) { get("/at/app.rb:1").last }
  end

  # [status, body]
  def get(path, query = "")
    replacing(Heapline, :enabled?, true) do
      replacing(Heapline, :rows, ROWS) do
        replacing(Heapline, :quiet, ->(*) { flunk }) do
          Heapline.define_singleton_method(:quiet) { |&block| block.call(1) }
          status, _, body = MwrapRack.new.call(environment(path, query))
          [status, body.join]
        end
      end
    end
  end

  def environment(path, query)
    { "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "/MWRAP", "PATH_INFO" => path, "QUERY_STRING" => query }
  end

  def locations(path, query = "")
    get(path, query).last.scan(%r{/at/[^"]*">([^<]*)</a>}).flatten
  end
end
