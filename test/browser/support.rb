# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "support/browser"
require "support/reports"
require "support/snapshots"
require "heapline/accounting/html"

# Opens reports in a real browser. What a page complains of, or asks the network for, fails its test.
module BrowserCase
  include Snapshots
  include Reports

  class << self
    # One browser for all tests of the process.
    def browser
      @browser ||= Browser.launch.tap { |browser| Minitest.after_run { browser.close } }
    end
  end

  def setup
    super
    skip "no Chromium: script/setup --develop installs it" unless Browser.path
    @directory = Dir.mktmpdir("heapline-test")
    @pages = []
  end

  def teardown
    @pages&.each do |page|
      assert_empty page.complaints
      refute_match(/\b(NaN|Infinity|undefined|null)\b/, page.value("document.body.innerText"))
      assert_equal ["file"], page.requests.map { |address| address[/\A\w+/] }.uniq
      page.close
    end
  ensure
    FileUtils.remove_entry(@directory) if @directory
    super
  end

  # A page with the report on `snapshot`; width, height, dark: of the page; the rest are options of the format.
  def show(snapshot, width: 1280, height: 900, dark: false, **options)
    open_page(Heapline::Accounting::Html.new(**options), snapshot, width: width, height: height, dark: dark)
  end

  # A page with what `format` makes of `model`.
  def open_page(format, model, width: 1280, height: 900, dark: false)
    path = File.join(@directory, "report.html")
    File.open(path, "w") { |file| format.render(model, file) }
    page = BrowserCase.browser.page(width: width, height: height, dark: dark)
    @pages << page
    page.open(path)
    page
  end

  # A shop: an application and two gems, one with native code.
  def shop
    snapshot(
      site("/srv/shop/app/order.rb", 12, label: "Order#total", live_bytes: 51_200_000, live_blocks: 50_000,
                                         allocations: 100_000, frees: 50_000, age_sum: 100_000, temporary: 40_000),
      site("/srv/shop/app/order.rb", 40, label: "Order#lines", live_bytes: 20_000_000, allocations: 10),
      site("/srv/shop/lib/feed.rb", 7, label: "Feed#fetch", live_bytes: 9_000_000, growth_bytes: -500,
                                       allocations: 900),
      site("/g/gems/rack-3.0.8/lib/rack.rb", 5, label: "Rack#call", live_bytes: 4_000_000, allocations: 20, tag: "job"),
      site("/g/gems/nokogiri-1.16.2/lib/xml.rb", 9, label: "Xml#parse", library: "libxml2.so.2",
                                                    live_bytes: 3_000_000, allocations: 30)
    )
  end

  # Many lines of many files, the largest first.
  def many(count)
    snapshot(*Array.new(count) do |index|
      site("/srv/shop/app/part#{index / 50}.rb", index % 50, live_bytes: 10_000_000 - (index * 10), allocations: 1)
    end)
  end

  # Locations in the table, in the order in which they are shown.
  def locations(page)
    page.value("Array.from(document.querySelectorAll('tbody .open'), (each) => each.title)")
  end

  def texts(page, selector)
    page.value("Array.from(document.querySelectorAll(#{JSON.generate(selector)}), (each) => each.textContent)")
  end

  # Choose a key in the list of this label.
  def choose(page, label, key)
    page.value(<<~JS)
      (() => { const list = Array.from(document.querySelectorAll(".choice"))
          .find((each) => each.textContent.startsWith(#{JSON.generate(label)})).querySelector("select");
        list.value = #{JSON.generate(key)}; list.dispatchEvent(new Event("change")); })()
    JS
  end

  # What the rules of axe complain of: names, roles, contrast, order of headings …
  def violations(page)
    skip "rake test:browser brings the rules" unless ENV["HEAPLINE_AXE"]
    page.value("#{File.read(ENV.fetch("HEAPLINE_AXE"))}; true")
    page.value(<<~JS)
      axe.run(document, { resultTypes: ["violations"] }).then((result) => result.violations.flatMap((rule) =>
        rule.nodes.map((node) => rule.id + ": " + node.target.join(" ") + ": " + node.failureSummary)))
    JS
  end

  # What has the focus: its text.
  def focused(page)
    page.value("document.activeElement.textContent")
  end
end
