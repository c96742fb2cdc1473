# frozen_string_literal: true

require "browser/support"
require "support/heap_values"
require "heapline/heap/html"

# The page of a heap dump: what holds the memory as maps and tables, and the ways through it.
class BrowserHeapTest < Minitest::Test
  include BrowserCase
  include HeapValues

  def show_heap(dump = HeapValues::Dump.new(shop_graph, ruby: "3.1.2"), values: true, **page)
    open_page(Heapline::Heap::Html.new(values: values), dump, **page)
  end

  # The map by objects, classes or lines.
  def map_by(page, key)
    choose(page, "By", key)
    page.await("document.querySelector('.tile')")
  end

  def tiles(page, depth)
    page.value("Array.from(document.querySelectorAll('.tile.depth-#{depth}'), (each) => each.ariaLabel)")
  end

  def rows(page)
    texts(page, "tbody .open .thing")
  end

  def test_objects_lie_in_those_that_hold_them
    page = show_heap
    assert_equal ["Array of 2 elements 2.98 kB", "class Object 1.32 kB"], tiles(page, 1)
    page.click(".tile.depth-1")
    assert_equal ["all", "Array of 2 elements"], texts(page, ".crumbs button, .crumbs b")
    assert_equal ["#<Session> 1.45 kB"] * 2, tiles(page, 1).first(2)
    assert_includes tiles(page, 1), "the object itself 40 B"
  end

  def test_classes_by_their_namespaces
    graph = shop_graph
    graph.add(0x90, "OBJECT", "Shop::Cart::Item", {}, bytes: 9000)
    graph.add(0x91, "OBJECT", "Shop::Cart", {}, bytes: 2000)
    graph.add(0x92, "IMEMO", "(IMEMO iseq)", {}, bytes: 1000)
    page = show_heap(HeapValues::Dump.new(graph))
    map_by(page, "classes")
    assert_equal ["Shop 11.00 kB", "String 2.60 kB", "Class 1.28 kB", "the VM's own 1.00 kB"], tiles(page, 1).first(4)
    assert_equal ["Item 9.00 kB", "Cart 2.00 kB"], tiles(page, 3).first(2)
    page.click(".tile.depth-3")
    assert_equal "class:Shop::Cart::Item", page.value("document.querySelector('input').value")
  end

  def test_lines_by_gem_and_file
    page = show_heap
    map_by(page, "lines")
    assert_equal ["(application) 2.60 kB", "(not traced) 1.74 kB"], tiles(page, 1)
    choose(page, "Area", "count")
    assert_equal ["(not traced) 7", "(application) 5"], tiles(page, 1)
  end

  def test_a_dump_without_lines_has_none
    page = show_heap(shop(traced: 0))
    assert_equal %w[holders classes holders classes equal], page.value(<<~JS)
      Array.from(document.querySelectorAll(".choice:not(.sort-choice) option"), (each) => each.value)
        .filter((key) => !["bytes", "count"].includes(key))
    JS
  end

  def test_the_tables
    page = show_heap
    assert_equal ["2.98 kB", "1.45 kB", "1.45 kB"], texts(page, "td.sorted").first(3)
    choose(page, "Show", "classes")
    assert_equal %w[String Class Hash Session Array], rows(page)
    page.click("[data-sort=retained_bytes]")
    assert_equal %w[Array Session Hash String Class], rows(page)
    choose(page, "Show", "equal")
    assert_equal ["\"hello\"", "40 B"], [rows(page).last, texts(page, "td.sorted").last]
    choose(page, "Show", "lines")
    assert_equal(["/srv/shop/app/session.rb:14"], texts(page, "tbody .open").first(1)
                                                                            .map { |text| text[/\S+/] })
  end

  def test_filters_by_words
    page = show_heap
    page.press("/")
    page.type("session.rb HTML")
    assert_equal ["2 of 11 objects"], texts(page, ".found")
    page.type(" nothing like that")
    assert_equal ["Nothing is left. Clear the filter to see all."], texts(page, "td.empty")
  end

  def test_a_class_leads_to_its_instances
    page = show_heap
    choose(page, "Show", "classes")
    page.click("tr[data-at='3'] .open")
    assert_equal ["#<Session>"] * 2, rows(page)
  end

  def test_the_way_from_a_root_is_followed_and_left_again
    page = show_heap
    page.press("/")
    page.type("0x81")
    page.click("tr[data-at='0'] .open")
    assert_equal ["root global_tbl (global variables)", "$sessionsArray of 2 elements/srv/shop/boot.rb:3"],
                 texts(page, ".way li").first(2)
    assert_equal ["[:page]"], texts(page, ".way [aria-current] .by")

    page.click(".way li:nth-child(3) button")
    assert_equal ["#<Session>"], texts(page, "dialog h2")
    assert_equal ["Hash of 2 pairs"], texts(page, "dialog .held:not(.classes) .thing").first(1)
    page.click("dialog .held button")
    assert_equal ["Hash of 2 pairs"], texts(page, "dialog h2")
    page.press("Backspace")
    assert_equal ["#<Session>"], texts(page, "dialog h2")
    page.press("Escape")
    page.await("!document.querySelector('dialog').open")
    assert_match(/0x81/, focused(page))
  end

  def test_what_is_held_by_class
    page = show_heap
    page.click("tr[data-at='0'] .open")
    assert_equal ["2 Session2.90 kB", "1 String40 B"], texts(page, "dialog .classes li")
  end

  def test_who_references_it
    page = show_heap
    page.press("/")
    page.type("0x50")
    page.click("tr[data-at='0'] .open")
    assert_equal ["Held by: the shortest path from a root", "Referenced 2 times"], texts(page, "dialog h3")
  end

  def test_problems_are_shown
    page = show_heap(shop(problems: ["line 812: not JSON"]))
    assert_equal ["Not all could be read: line 812: not JSON"], texts(page, ".warning")
  end

  def test_hostile_names_are_text
    page = show_heap(hostile)
    page.click("tr[data-at='0'] .open")
    assert_equal 0, page.value("document.querySelectorAll('img, iframe, body script').length")
    refute_match(/[\0\e\u202E]/, page.value("document.body.textContent"))
    assert_includes page.value("document.body.textContent"), "<script>\\x1B[31m\\u{202E}"
  end

  def test_nothing_was_dumped
    page = show_heap(HeapValues::Dump.new(Graph.new))
    assert_equal ["0 objects"], texts(page, ".found")
    assert_equal ["This part has no bytes of this kind."], texts(page, ".treemap p")
  end

  def test_narrow_screens
    page = show_heap(width: 380)
    assert page.value("document.documentElement.scrollWidth <= 380")
    page.click("tr[data-at='3'] .open")
    assert page.value("document.querySelector('dialog').scrollWidth <= 380")
  end

  def test_everyone_can_use_it
    [false, true].product([1280, 380]).each do |dark, width|
      page = show_heap(dark: dark, width: width)
      assert_empty violations(page), "dark: #{dark}, width: #{width}"
      page.click("tr[data-at='3'] .open")
      assert_empty violations(page), "detail; dark: #{dark}, width: #{width}"
    end
  end
end
