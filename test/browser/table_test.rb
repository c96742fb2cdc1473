# frozen_string_literal: true

require "browser/support"

# The table: sorted, filtered, grouped, by mouse and by keyboard.
class BrowserTableTest < Minitest::Test
  include BrowserCase

  def sorts(page)
    page.value("Array.from(document.querySelectorAll('[aria-sort]'), (each) => [each.textContent, each.ariaSort])")
  end

  def test_sorts_by_a_column_and_back
    page = show(shop)
    assert_match(/order.rb:12\z/, locations(page).first)
    assert_equal [["growth▼", "descending"]], sorts(page)

    page.click("[data-sort=growth]")
    assert_equal [["growth▲", "ascending"]], sorts(page)
    assert_match(/feed.rb:7\z/, locations(page).first)

    page.click("[data-sort=temporary]")
    assert_equal [["temporary▼", "descending"]], sorts(page)
    choose(page, "Sort by", "allocs")
    assert_equal %w[100,000 900 30 20 10], texts(page, "td.sorted")

    page.click("[data-sort=name]")
    assert_equal locations(page).sort, locations(page)
  end

  def test_is_sorted_first_as_it_was_asked_for
    page = show(shop, sort: :frees)
    assert_equal [["frees▼", "descending"]], sorts(page)
    assert_equal %w[50,000 0 0 0 0], texts(page, "td.sorted")
  end

  def test_filters_by_words_in_any_field
    page = show(shop)
    page.press("/")
    page.type("ORDER lines")
    assert_equal ["/srv/shop/app/order.rb:40"], locations(page)
    assert_equal ["1 of 5 sites"], texts(page, ".found")

    page.value("document.querySelector('input').select()")
    page.type("libxml2")
    assert_equal ["/g/gems/nokogiri-1.16.2/lib/xml.rb:9"], locations(page)

    page.type("nothing like that")
    assert_equal ["No site is left. Clear the filter to see all."], texts(page, "td.empty")
  end

  def test_groups_and_what_is_in_them
    page = show(shop)
    choose(page, "Show", "gem")
    assert_equal %w[(application) rack nokogiri], texts(page, "tbody .open")
    assert_equal ["5 sites, in 3 gems"], texts(page, ".found")

    page.click("tr[data-at='1'] .open")
    assert_equal ["/g/gems/rack-3.0.8/lib/rack.rb:5"], locations(page)
    page.click(".chip")
    assert_equal 5, locations(page).size
  end

  def test_libraries_and_tags
    page = show(shop)
    choose(page, "Show", "library")
    page.click("tr[data-at='1'] .open")
    assert_equal ["/g/gems/nokogiri-1.16.2/lib/xml.rb:9"], locations(page)
    page.click(".chip")
    choose(page, "Show", "tag")
    assert_equal ["(no tag)", "job"], texts(page, "tbody .open")
  end

  def test_only_the_rows_in_view_are_there_and_the_keyboard_reaches_all
    page = show(many(5000))
    assert_operator locations(page).size, :<, 60
    assert_equal "5001", page.value("document.querySelector('table').getAttribute('aria-rowcount')")

    page.value("document.querySelector('tbody .open').focus()")
    page.press("End")
    page.await("document.activeElement.closest('tr').dataset.at === '4999'")
    assert_equal "5001", page.value("document.activeElement.closest('tr').getAttribute('aria-rowindex')")
    page.press("ArrowUp")
    assert_equal "4998", page.value("document.activeElement.closest('tr').dataset.at")
    page.press("Home")
    page.await("document.activeElement.closest('tr').dataset.at === '0'")
    page.press("PageDown")
    page.await("Number(document.activeElement.closest('tr').dataset.at) > 5")
  end

  def test_scrolling_shows_the_rows_there
    page = show(many(5000))
    page.value("document.querySelector('.rows').scrollTop = 46 * 2500")
    page.await("document.querySelector(\"tr[data-at='2505']\")")
    assert page.value("Math.abs(document.querySelector(\"tr[data-at='2505']\").offsetTop - 46 * 2505) < 60")
  end

  def test_a_hundred_thousand_sites
    page = show(many(100_000), top: 0)
    assert_equal ["100,000 sites"], texts(page, ".found")
    puts format("100,000 sites were on the screen %.2f s after the browser began to open the report", seconds(page))
    page.press("/")
    page.type("part1999.rb:49")
    assert_equal ["/srv/shop/app/part1999.rb:49"], locations(page)
  end

  # From the navigation to the end of the load, which the script is part of. Printed, not judged.
  def seconds(page)
    page.value("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000.0
  end

  def test_narrow_screens_show_the_sorted_figure_and_can_choose_it
    page = show(shop, width: 380)
    assert_equal %w[location growth▼], texts(page, "thead button")
    choose(page, "Sort by", "allocs")
    assert_equal %w[location allocs▼], texts(page, "thead button")
    assert page.value("document.documentElement.scrollWidth <= 380")
  end
end
