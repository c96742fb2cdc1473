# frozen_string_literal: true

require "browser/support"
require "heapline/figures/units"

# The page as a whole: what it shows, in light and dark; that names do nothing; that everyone can use it.
class BrowserReportTest < Minitest::Test
  include BrowserCase

  HOSTILE = ["<script>document.title='pwned'</script>.rb", "</script><img src=x onerror=alert(1)>.rb",
             "\e[31mred\a.rb", "nul\0.rb", "\u202Egpj.rb", "line\u2028.rb", "bad\xFF.rb", "javascript:alert(1)"].freeze

  def grown
    growth(series("/srv/shop/app/order.rb:12"), series("/srv/shop/lib/feed.rb:7", verdict: :cache, live: [1, 9, 9]),
           *Array.new(12) { |index| series("/srv/shop/app/more#{index}.rb:1", verdict: :steady, live: [5, 5]) })
  end

  def test_the_ledger_is_a_bar_and_lines_that_open
    page = show(shop, ledger: ledger)
    assert_equal 3, texts(page, ".bar .part").size
    assert_equal ["Ruby objects", "malloc live by Ruby lines", "malloc freed but held", "of unknown use"],
                 texts(page, "#ledger li.line > .name, #ledger summary > .name")
    refute page.value("document.querySelector('#ledger details').open")
    page.click("#ledger summary")
    assert page.value("document.querySelector('#ledger details').open")
    assert_equal %w[rack (application)], texts(page, ".parts .name")
  end

  def test_without_a_ledger_the_libraries
    page = show(shop)
    assert_equal ["Live memory by library"], texts(page, "#ledger h2")
    assert_equal ["ruby", "libxml2.so.2"], texts(page, "#ledger .name")
  end

  def test_growth_with_verdicts_and_the_rest_on_demand
    page = show(shop, growth: grown)
    assert_equal ["3 processes · 2 hosts · 20 min 00 s · 2027-01-15 08:00 to 2027-01-15 08:20 UTC"],
                 texts(page, "#growth > .note")
    assert_equal ["RSS +6.00 MB/h", "malloc live +6.00 MB/h"], texts(page, ".legend li")
    assert_equal ["1 leak", "1 cache", "12 steady"], texts(page, ".verdicts button")
    assert_equal 2, texts(page, ".low .curve").size
    assert_equal 6, texts(page, ".plot:not(.low) .curve").size
    assert_equal 12, texts(page, ".series li").size
    page.click(".more")
    assert_equal 14, texts(page, ".series li").size
  end

  def test_growth_that_is_not_sure_is_a_range_and_none_that_is_not_known
    unsure = growth(series("/a.rb:1", verdict: :unsure, slope_bytes_per_hour: 0.0, slope_low: nil, slope_high: nil))
    unsure.memory.each_value { |one| one.slope_bytes_per_hour = 0.0 }
    unsure.memory["rss"].slope_low = -2_000_000.0
    unsure.memory["malloc_live"].slope_low = unsure.memory["malloc_live"].slope_high = nil
    page = show(shop, growth: unsure)
    assert_equal ["RSS -2.00 MB … 6.10 MB an hour", "malloc live ?"], texts(page, ".legend li")
    assert_equal ["?"], texts(page, ".series .slope")
  end

  def test_growth_of_one_verdict
    page = show(shop, growth: grown)
    page.click(".verdicts .verdict-cache")
    assert_equal ["lib/feed.rb:7"], texts(page, ".series .where")
    assert_equal ["/srv/shop/lib/feed.rb:7"], texts(page, ".plot:not(.low) .curve title")
    page.click(".verdicts .verdict-cache")
    assert_equal 12, texts(page, ".series li").size
  end

  def test_nothing_was_counted
    page = show(snapshot)
    assert_equal ["0 sites"], texts(page, ".found")
    assert_equal ["This part has no bytes of this kind."], texts(page, ".treemap p")
  end

  def test_a_difference_in_which_memory_was_given_back
    page = show(snapshot(site("/a.rb", 1, live_bytes: -5000), site("/b.rb", 2, live_bytes: 5000, library: "libb.so")))
    assert_equal ["5.00 kB", "-5.00 kB"], texts(page, "td.sorted")
    assert_equal ["5.00 kB", "", "-5.00 kB", ""], texts(page, "#ledger .line .figure")
    assert_equal 1, texts(page, ".bar .part").size
  end

  def test_growth_alone
    page = show(nil, growth: grown)
    assert_equal ["Growth over time"], texts(page, "h2")
  end

  def test_hostile_names_are_text
    sites = HOSTILE.map { |name| site("/app/#{name}", 1, label: name, library: name, tag: name, live_bytes: 9) }
    page = show(snapshot(*sites, command: ["ruby", *HOSTILE]), growth: growth(*HOSTILE.map { |name| series(name) }))
    page.click("tr[data-at='0'] .open")

    assert_match(/\Aruby <script>.*· pid 4711 · heapline\z/, page.value("document.title"))
    assert_equal 0, page.value("document.querySelectorAll('img, iframe, body script').length")
    refute_match(/[\0\e\a\u202E\u2028]/, page.value("document.body.textContent"))
    assert_includes page.value("document.body.textContent"), "\\x1B[31mred\\x07.rb"
  end

  def test_the_policy_is_in_force
    page = show(shop)
    assert_equal "refused", page.value("fetch('data:text/plain,x').then(() => 'fetched', () => 'refused')")
    markup = "(() => { try { document.body.innerHTML = '<b>x</b>'; } catch (error) { return error.name; } })()"
    assert_equal "TypeError", page.value(markup)
    page.complaints.clear # these two are what the policy reports
  end

  def test_light_and_dark_follow_the_system_until_the_button_is_pressed
    page = show(shop, dark: true)
    assert_equal "dark", page.value("document.documentElement.dataset.theme")
    page.click(".theme")
    assert_equal "light", page.value("document.documentElement.dataset.theme")
    assert_equal "light", show(shop).value("document.documentElement.dataset.theme")
  end

  def test_sizes_are_written_as_everywhere
    sizes = [0, 999, 1000, -1024, 51_200_000, 999_994, 999_995, 999_999, 1_210_000_000, 7 * (10**15)]
    page = show(snapshot(*sizes.each_with_index.map { |size, line| site("/a.rb", line + 1, live_bytes: size) }))
    shown = texts(page, "td.sorted").sort
    assert_equal sizes.map { |size| Heapline::Units.bytes(size) }.sort, shown
  end

  def test_everyone_can_use_it
    [false, true].product([1280, 380]).each do |dark, width|
      page = show(shop, dark: dark, width: width, ledger: ledger, growth: grown)
      assert_empty violations(page), "dark: #{dark}, width: #{width}"
      page.click("tr[data-at='0'] .open")
      assert_empty violations(page), "detail; dark: #{dark}, width: #{width}"
    end
  end
end
