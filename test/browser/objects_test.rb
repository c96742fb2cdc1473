# frozen_string_literal: true

require "browser/support"
require "support/object_snapshots"

# Ruby objects in the page: beside malloc, alone, by class, in the treemap and in full.
class BrowserObjectsTest < Minitest::Test
  include BrowserCase
  include ObjectSnapshots

  def test_both_halves_and_each_alone
    page = show(leaky_objects)
    assert_equal ["6 sites"], texts(page, ".found")
    assert_includes texts(page, ".summary dt"), "Ruby objects"
    choose(page, "Of", "object")
    assert_equal [" Cache::Entry", " Shop::Order", " String", " T_IMEMO"], texts(page, "tbody .class").sort
    choose(page, "Of", "malloc")
    assert_empty texts(page, "tbody .class")
    assert_equal ["2 of 6 sites"], texts(page, ".found")
  end

  def test_classes_and_their_lines
    page = show(leaky_objects)
    choose(page, "Show", "class")
    assert_equal ["(malloc)", "Cache::Entry", "Shop::Order", "String", "T_IMEMO"], texts(page, "tbody .open").sort
    page.click("tr[data-at='1'] .open")
    assert_equal 1, locations(page).size
  end

  def test_filter_by_class
    page = show(leaky_objects)
    page.press("/")
    page.type("shop::order")
    assert_equal ["1 of 6 sites"], texts(page, ".found")
  end

  def test_a_class_in_full
    page = show(leaky_objects)
    choose(page, "Of", "object")
    page.click("tr[data-at='0'] .open")
    facts = texts(page, "dialog dd").join("\n")
    assert_match(/50,000 objects, 40 B each/, facts)
    assert_match(/^(String|Shop::Order)$/, facts)
    refute_includes texts(page, "dialog dt"), "life time"
  end

  def test_the_treemap_of_either_half
    page = show(leaky_objects)
    choose(page, "Area", "live_bytes object")
    assert_equal ["4.33 MB"], texts(page, ".crumbs .figure")
    choose(page, "Area", "live_bytes malloc")
    assert_equal ["52.22 MB"], texts(page, ".crumbs .figure")
  end

  def test_without_objects_there_is_nothing_to_choose
    page = show(leaky)
    assert_equal ["Show", "Sort by"], texts(page, "#sites .choice span")
  end

  def test_hostile_classes
    page = show(hostile_objects)
    assert_equal "0", page.value("String(document.querySelectorAll('tbody script').length)")
  end

  def test_for_everybody
    [false, true].each { |dark| assert_empty violations(show(leaky_objects, dark: dark)) }
  end

  def test_narrow
    page = show(leaky_objects, width: 400)
    assert page.value("document.documentElement.scrollWidth <= 400")
  end
end
