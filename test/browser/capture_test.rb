# frozen_string_literal: true

require "browser/support"
require "support/captures"
require "heapline/capture"
require "heapline/recording/html"
require "heapline/recording/svg"

# The page of a recording: its call paths, what narrows them, and that its figures are those of the report.
class BrowserCaptureTest < Minitest::Test
  include BrowserCase

  MS = 1_000_000
  MAIN = ["main", "/srv/app.rb", 1, nil, nil].freeze
  LOAD = ["Shop#load", "/srv/shop.rb", 12, nil, nil].freeze
  PARSE = ["Xml.parse", "/g/gems/xml-1.0/lib/xml.rb", 7, nil, nil].freeze
  NATIVE = ["xmlNewNode", nil, nil, "/usr/lib/libxml2.so.2", 16].freeze

  # 64 ms: 600 bytes that stay, 300 from 10 to 30 ms, 100 natively by a worker under a tag.
  def planted
    Captures::Builder.new.tap do |builder|
      builder.birth(0, 600, [MAIN, LOAD], thread: "main")
      short = builder.birth(10 * MS, 300, [MAIN, PARSE], thread: "main")
      builder.birth(20 * MS, 100, [MAIN, PARSE, NATIVE], thread: "worker", tag: "job")
      builder.end(30 * MS, short, thread: "main")
      builder.mark((64 * MS) - 1000, :gc_start)
    end
  end

  # Yields the page of what a builder recorded, and the path of the capture.
  def open_capture(builder = planted, **options)
    @captures ||= 0
    @path = File.join(@directory, "run#{@captures += 1}.hlc")
    File.binwrite(@path, builder.to_s)
    open_page(Heapline::Recording::Html.new, Heapline::Capture.open(@path), **options)
  end

  # Labels of the frames that are drawn, as they are read to who cannot see them.
  def frames(page)
    page.await("document.querySelector('.frame')")
    page.value("Array.from(document.querySelectorAll('.frame'), (each) => each.title)")
  end

  # Widths by name.
  def widths(page)
    page.value("Object.fromEntries(Array.from(document.querySelectorAll('.frame'), " \
               "(each) => [each.title.split(',')[0], each.getBoundingClientRect().width]))")
  end

  def slide(page, label, span)
    page.value(<<~JS)
      (() => { const slider = document.querySelector(#{"input[aria-label='#{label}']".to_json});
        slider.value = #{span}; slider.dispatchEvent(new Event("input")); })()
    JS
  end

  def whole(page)
    texts(page, "#paths .found").first
  end

  def press_frame(page, name)
    page.value("Array.from(document.querySelectorAll('.frame')).find((each) => each.title.startsWith(" \
               "#{name.to_json})).click(); true")
  end

  # Choose each span from `from` until `to`.
  def window(page, from, to)
    page.click(".ranges + .toolbar button")
    slide(page, "Until", to)
    slide(page, "Born from", from)
  end

  def test_frames_are_as_wide_as_their_share
    page = open_capture
    assert_equal ["all, 1.00 kB, 100 %", "main, /srv/app.rb:1, 1.00 kB, 100 %",
                  "Shop#load, /srv/shop.rb:12, 600 B, 60 %", "Xml.parse, /g/gems/xml-1.0/lib/xml.rb:7, 400 B, 40 %",
                  "xmlNewNode, /usr/lib/libxml2.so.2, 100 B, 10 %"].sort, frames(page).sort
    found = widths(page)
    all = found["all"] + 1
    assert_in_delta 0.6 * all, found["Shop#load"] + 1, 0.5
    assert_in_delta 0.1 * all, found["xmlNewNode"] + 1, 0.5
    assert_equal ["1.00 kB", "700 B", "1.00 kB", "300 B"], texts(page, ".summary dd:not(.note)")
  end

  def test_from_who_allocated
    page = open_capture
    choose(page, "Paths", "up")
    assert_includes frames(page), "Xml.parse, /g/gems/xml-1.0/lib/xml.rb:7, 300 B, 30 %"
    assert_equal 3, frames(page).grep(/\Amain/).size
  end

  def test_other_figures
    page = open_capture
    { "live" => "700 B in all", "allocated" => "1.00 kB in all", "temporary" => "300 B in all",
      "count" => "3 in all" }.each do |metric, words|
      choose(page, "Show", metric)
      assert_equal words, whole(page)
    end
  end

  def test_one_thread_and_one_tag
    page = open_capture
    choose(page, "Show", "allocated")
    choose(page, "Thread", "2")
    assert_equal "100 B in all", whole(page)
    choose(page, "Thread", "-1")
    choose(page, "Tag", "0")
    assert_equal "900 B in all", whole(page)
  end

  # The worker has most when the others have not: of it the page tells another moment, and says so.
  def test_of_which_moment_the_peak_of_one_thread_is
    builder = planted
    short = builder.birth(40 * MS, 150, [MAIN], thread: "worker")
    builder.end(50 * MS, short, thread: "worker")
    page = open_capture(builder)
    assert_equal "1.00 kB in all", whole(page)
    choose(page, "Thread", "2")
    assert_equal "100 B in all: what was live of this thread at the peak of the whole recording. " \
                 "heapline report shows its own peak with --thread.", whole(page)
    choose(page, "Tag", "1")
    assert_match(/live of this thread and tag at the peak.*with --thread and --tag\.\z/, whole(page))
    choose(page, "Show", "allocated")
    assert_equal "100 B in all", whole(page)
  end

  # Of Foo 40 bytes at 1 ms that stay, of Bar 80 by the worker from 20 to 40 ms.
  def planted_with_objects
    planted.tap do |builder|
      events = builder.events.dup
      builder.events.clear
      builder.object(1 * MS, 40, "Foo", [MAIN, LOAD], thread: "main")
      other = builder.object(20 * MS, 80, "Bar", [MAIN], thread: "worker")
      builder.object_freed(40 * MS, other)
      builder.events.concat(events)
      order = builder.events.each_with_index.sort_by { |event, at| [event.time, at] }.map(&:first)
      builder.events.replace(order)
    end
  end

  def test_objects_beside_blocks
    page = open_capture(planted_with_objects)
    assert_equal "1.00 kB in all", whole(page)
    choose(page, "Of", "objects")
    assert_equal "120 B in all", whole(page)
    assert_equal ["120 B", "40 B", "120 B"], texts(page, ".summary dd:not(.note)").first(3)
    assert_includes frames(page), "Foo, 40 B, 33 %"
    assert_equal %w[Bar Foo], locations(page)
    choose(page, "Sum by", "line")
    assert_equal ["/srv/app.rb:1", "/srv/shop.rb:12"], locations(page)
    assert_equal "Ruby objects", page.value("document.activeElement.selectedOptions[0].textContent")
    choose(page, "Sum by", "class")
    page.click("tbody .open")
    assert_equal "1 frame matches: 80 B of 120 B passed through, 67 %", whole(page)
  end

  def test_what_is_chosen_stays_with_the_other_view
    page = open_capture(planted_with_objects)
    window(page, 10, 30)
    choose(page, "Show", "allocated")
    choose(page, "Paths", "up")
    choose(page, "Thread", "2")
    page.press("/")
    page.type("main")
    choose(page, "Of", "objects")
    assert_equal "1 frame matches: 80 B of 80 B passed through, 100 %", whole(page)
    assert_match(/\ARuby objects born from 0.0\d+ s until/, texts(page, ".ranges + .toolbar .found").first)
    choose(page, "Of", "blocks")
    assert_equal "1 frame matches: 100 B of 100 B passed through, 100 %", whole(page)
    page.click(".ranges + .toolbar button")
    choose(page, "Of", "objects")
    assert_equal "All Ruby objects of the recording.", texts(page, ".ranges + .toolbar .found").first
  end

  def test_the_curves_of_objects_have_no_rss_beside_them
    builder = planted_with_objects
    builder.samples << [0, 9_000_000, 80_000, 0]
    page = open_capture(builder)
    assert_equal ["live", "RSS", "Ruby heap", "1 GC"], texts(page, ".legend li")
    choose(page, "Of", "objects")
    assert_equal ["live", "Ruby heap", "1 GC"], texts(page, ".legend li")
  end

  def test_no_choice_where_there_are_blocks_alone
    refute_includes texts(open_capture, ".choice span"), "Of"
  end

  def test_each_gc_is_a_mark
    builder = Captures::Builder.new
    builder.header["version"] = 2
    builder.birth(0, 600, [MAIN, LOAD])
    [[100, :gc_enter], [101, :gc_start, 7], [110, :gc_exit], [150, :gc_end], [600, :gc_start, 8], [601, :gc_start, 9],
     [1000, :thread_start]].each { |ms, kind, size| builder.mark(ms * MS, kind, size.to_i) }
    page = open_capture(builder)
    assert_equal ["GC 8: from 0.101 s until 0.150 s; the program stood still 10.0 ms",
                  "2 GCs, 9 to 10: from 0.600 s; the program stood still 0.00 ms"], texts(page, ".gc-mark title")
    first, second = page.value("Array.from(document.querySelectorAll('line.gc'), (each) => " \
                               "each.getBoundingClientRect().height)")
    assert_operator first, :>, second
    assert_equal "3 GCs, by how long the program stood still", texts(page, ".legend li").last
    assert_equal ["stood still for GC", "0.010 s", "3 GCs, 1.0 % of the time"],
                 texts(page, ".summary div:last-child > *")
  end

  def test_search_marks_and_tells_its_share
    page = open_capture
    page.press("/")
    page.type("XML.rb")
    assert_equal "1 frame matches: 400 B of 1.00 kB passed through, 40 %", whole(page)
    assert_equal ["Xml.parse"], texts(page, ".frame.match .frame-words > bdi")
  end

  def test_into_a_frame_and_back_by_mouse_and_keys
    page = open_capture
    press_frame(page, "Xml.parse")
    assert_in_delta widths(page)["all"], widths(page)["Xml.parse"], 0.1
    refute_includes widths(page).keys, "Shop#load"
    assert_includes texts(page, ".frame-detail").first, "400 B, 40 %"
    page.press("ArrowDown")
    assert_match(/\AxmlNewNode/, page.value("document.activeElement.title"))
    page.press("Enter")
    assert_in_delta widths(page)["all"], widths(page)["xmlNewNode"], 0.1
    3.times { page.press("Escape") }
    assert_includes widths(page).keys, "Shop#load"
  end

  def test_a_part_of_the_time
    page = open_capture
    window(page, 5, 64)
    choose(page, "Show", "allocated")
    assert_equal "400 B in all", whole(page)
    choose(page, "Show", "live")
    assert_equal "100 B in all", whole(page)
    slide(page, "Until", 25)
    assert_equal "400 B in all", whole(page)
    page.click(".ranges + .toolbar button")
    assert_equal "700 B in all", whole(page)
  end

  # The page says of any part what the command says of it.
  def test_parts_of_a_random_program
    builder = Captures.random(5, 900)
    page = open_capture(builder)
    width = seconds_a_span
    [[0, 20], [10, 40], [33, 64], [63, 64]].each do |from, to|
      window(page, from, to)
      sums = Heapline::Capture.open(@path, from: from * width, to: (to * width if to < 64)).sums
      { "allocated" => sums.bytes_allocated, "live" => sums.live_bytes, "temporary" => sums.temporary_bytes,
        "peak" => sums.peak_bytes }.each do |key, bytes|
        choose(page, "Show", key)
        assert_equal "#{Heapline::Units.bytes(bytes)} in all", whole(page), [from, to, key].inspect
      end
    end
  end

  def seconds_a_span
    capture = Heapline::Capture.open(@path)
    capture.cells(capture.stacks.map { 0 }).first
  end

  def test_the_table
    page = open_capture
    assert_equal ["/srv/shop.rb:12", "/g/gems/xml-1.0/lib/xml.rb:7", "/g/gems/xml-1.0/lib/xml.rb:7 via libxml2.so.2"],
                 locations(page)
    choose(page, "Sum by", "gem")
    assert_equal ["(application)", "xml"], locations(page)
    page.click("tbody .open")
    assert_equal "(application)", page.value("document.querySelector('input[type=search]').value")
  end

  HOSTILE = ["<script>document.title='pwned'</script>", "</script><img src=x onerror=alert(1)>", "\e[31mred\a",
             "nul\0", "\u202Egpj", "bad\xFF"].freeze

  def test_hostile_names_are_names
    builder = Captures::Builder.new
    HOSTILE.each_with_index do |name, at|
      builder.birth(at * MS, 100, [[name, "/a/#{name}", 1, nil, nil]], thread: name, tag: name)
    end
    builder.header["command"] = HOSTILE.join("\0")
    page = open_capture(builder)
    assert_includes page.value("document.body.innerText"), "<script>document.title='pwned'</script>"
    refute_match(/[\e\a\0\u202E]/, page.value("document.body.innerText"))
    assert_equal 0, page.value("document.querySelectorAll('main script, main img').length")
    refute_equal "pwned", page.value("document.title")
  end

  def test_a_capture_of_nothing
    builder = Captures::Builder.new
    builder.mark(0, :gc_start)
    assert_includes texts(open_capture(builder), ".empty"), "There are no such blocks in this part."
  end

  def test_for_everybody
    [false, true].each do |dark|
      page = open_capture(planted_with_objects, dark: dark)
      page.press("/")
      page.type("Xml")
      assert_empty violations(page)
      choose(page, "Of", "objects")
      assert_empty violations(page)
    end
  end

  def test_narrow
    page = open_capture(planted_with_objects, width: 390)
    %w[objects blocks].each do |kind|
      choose(page, "Of", kind)
      assert page.value("document.documentElement.scrollWidth <= 390")
    end
  end

  # A picture has no text outside of its frames, no script, and is dark where the system is.
  def test_a_flame_graph
    File.binwrite(capture = File.join(@directory, "flame.hlc"), planted.to_s)
    File.open(path = File.join(@directory, "flame.svg"), "w") do |file|
      Heapline::Recording::Svg.new(metric: :allocated).render(Heapline::Capture.open(capture), file)
    end
    grounds = [false, true].map do |dark|
      page = BrowserCase.browser.page(width: 1220, height: 400, dark: dark)
      page.open(path, script: false)
      assert_equal 5, page.value("document.querySelectorAll('g').length")
      assert_empty page.value("Array.from(document.querySelectorAll('g'), (g) => [g.querySelector('rect'), " \
                              "g.querySelector('text')].map((e) => e?.getBoundingClientRect()))" \
                              ".filter(([rect, text]) => text && text.right > rect.right)")
      [page.complaints, page.value("getComputedStyle(document.documentElement).backgroundColor")].tap { page.close }
    end
    assert_equal [[[], "rgb(255, 255, 255)"], [[], "rgb(21, 20, 19)"]], grounds
  end
end
