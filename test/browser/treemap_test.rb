# frozen_string_literal: true

require "browser/support"

# The treemap and the detail of a site: drilled into and left again, by mouse and by keyboard.
class BrowserTreemapTest < Minitest::Test
  include BrowserCase

  def crumbs(page)
    texts(page, ".crumbs button, .crumbs b")
  end

  def test_drills_from_gem_to_file_to_line_and_the_table_follows
    page = show(shop)
    assert_equal ["(application) 80.20 MB", "rack 4.00 MB", "nokogiri 3.00 MB"], names(page, 1)

    page.click(".tile.depth-1")
    assert_equal ["all", "(application)"], crumbs(page)
    assert_equal ["app/order.rb 71.20 MB", "lib/feed.rb 9.00 MB"], names(page, 1)
    assert_equal 3, locations(page).size

    page.click(".tile.depth-1")
    assert_equal ["all", "(application)", "app/order.rb"], crumbs(page)
    assert_equal ["12 Order#total 51.20 MB", "40 Order#lines 20.00 MB"], names(page, 1)
    assert_equal 2, locations(page).size

    page.click(".tile.depth-1")
    assert_equal ["app/order.rb:12"], texts(page, "dialog h2")
  end

  def names(page, depth)
    page.value("Array.from(document.querySelectorAll('.tile.depth-#{depth}'), (each) => each.ariaLabel)")
  end

  def test_rectangles_are_as_large_as_they_were_laid_out_however_small
    sites = Array.new(400) { |index| site("/srv/a#{index % 40}.rb", index, live_bytes: 2**(index / 16)) }
    page = show(snapshot(*sites))
    assert_operator page.value("document.querySelectorAll('.tile').length"), :>, 50
    assert_empty page.value(<<~JS)
      Array.from(document.querySelectorAll(".tile")).filter((tile) =>
        tile.offsetWidth !== parseInt(tile.style.width) || tile.offsetHeight !== parseInt(tile.style.height))
        .map((tile) => tile.title)
    JS
  end

  def test_large_files_show_their_lines
    page = show(shop)
    assert_equal ["12 Order#total 51.20 MB", "40 Order#lines 20.00 MB"], names(page, 3).first(2)
    page.click(".tile.depth-3")
    assert_equal ["app/order.rb:12"], texts(page, "dialog h2")
  end

  def test_the_way_back
    page = show(shop)
    page.click(".tile.depth-1")
    page.click(".tile.depth-1")
    page.click(".crumb")
    assert_equal ["all"], crumbs(page)
    assert_equal 5, locations(page).size
  end

  def test_by_keyboard
    page = show(shop)
    page.value("document.querySelector('.tile').focus()")
    page.press("Enter")
    assert_equal ["all", "(application)"], crumbs(page)
    assert_match(/order.rb/, focused(page))
    page.press("ArrowRight")
    refute_match(/\Aapp.order.rb/, focused(page))
    page.press("Escape")
    assert_equal ["all"], crumbs(page)
    assert page.value("document.activeElement.classList.contains('tile')")
  end

  def test_another_measure
    page = show(shop)
    page.value(<<~JS)
      (() => { const list = document.querySelector("#map select");
        list.value = "allocations"; list.dispatchEvent(new Event("change")); })()
    JS
    assert_equal ["(application) 100,910"], names(page, 1).first(1)
    assert_equal ["100,960"], texts(page, ".crumbs .figure")
  end

  def test_the_detail_shows_source_figures_and_growth_and_steps_through_the_table
    file = File.expand_path(__FILE__)
    here = site(file, 3, label: "x", live_bytes: 90_000_000, live_blocks: 9, allocations: 10, frees: 1, age_sum: 2)
    page = show(snapshot(here, *shop.sites), growth: growth(series("#{file}:3")))
    page.click("tr[data-at='0'] .open")
    assert_equal ["require \"browser/support\""], texts(page, ".source .here")
    assert_includes texts(page, "dialog dd"), "90.00 MB"
    assert_equal 1, page.value("document.querySelectorAll('dialog .curve').length")

    page.press("ArrowDown")
    assert_equal ["/srv/shop/app/order.rb:12"], texts(page, "dialog .facts dd").first(1)
    page.press("Escape")
    page.await("document.activeElement.title === '/srv/shop/app/order.rb:12'")
    refute page.value("document.querySelector('dialog').open")
  end
end
