# frozen_string_literal: true

require "browser/support"
require "support/leak_reports"
require "heapline/leaks/html"

# The page of lost blocks: its records, what narrows them, and that names do nothing.
class BrowserLeaksTest < Minitest::Test
  include BrowserCase
  include LeakReports

  KINDS = Heapline::Leaks::Findings::KINDS

  def lost
    leaks([record(bytes: 900, blocks: 9, frames: [libc, frame(function: "parse_header"), frame(function: "parse")]),
           record(bytes: 50, frames: [frame(function: "parse_body")], path: "/a/body.rb"),
           record(kind: :possible, bytes: 70, frames: [frame(function: "ring_make", path: "/x/libring.so")]),
           record(kind: :indirect, bytes: 30, frames: [])], dropped: { "of the Ruby VM itself" => [1, 2, 30] })
  end

  def libc
    frame(function: "strdup", path: "/lib/libc.so.6", file: nil, line: nil)
  end

  def open_leaks(model = lost, **options)
    open_page(Heapline::Leaks::Html.new(kinds: KINDS), model, **options)
  end

  def culprits(page)
    texts(page, ".records > li > details > summary .what b")
  end

  # What is in it comes when the browser has told that it is open.
  def open_first(page, content)
    page.click(".records summary")
    page.await("document.querySelector(#{content.to_json})")
  end

  def press_kind(page, words)
    page.value("Array.from(document.querySelectorAll('.verdicts button')).find((each) => " \
               "each.textContent === #{words.to_json}).click(); true")
  end

  def test_records_the_worst_class_and_the_largest_first
    page = open_leaks
    assert_equal ["parse_header", "parse_body", "(no native stack)", "ring_make"], culprits(page)
    assert_equal ["950 B", "30 B", "70 B", "0 B"], texts(page, ".summary dd:not(.note)")
    assert_includes texts(page, ".note").join("\n"), "Not shown: 30 B in 2 blocks of the Ruby VM itself, 1 record"
    assert_equal ["4 records, 1.05 kB"], texts(page, ".found")
  end

  def test_a_record_opens_to_its_stack
    page = open_leaks
    assert_empty texts(page, ".stack li")
    open_first(page, ".stack li")
    assert_equal %w[strdup parse_header parse], texts(page, ".stack .thing")
    assert_includes texts(page, ".stack .where"), "foo.c:12"
    assert_includes texts(page, ".record dd"), "900 B in 9 blocks"
  end

  def test_a_class_alone_and_all_again
    page = open_leaks
    press_kind(page, "possibly lost")
    assert_equal ["ring_make"], culprits(page)
    assert_equal ["1 of 4 records, 70 B"], texts(page, ".found")
    press_kind(page, "possibly lost")
    assert_equal 4, culprits(page).size
  end

  def test_one_library_words_and_groups
    page = open_leaks
    choose(page, "Through", "libc.so.6")
    assert_equal ["parse_header"], culprits(page)
    choose(page, "Through", "")
    page.press("/")
    page.type("body.rb PARSE")
    assert_equal ["parse_body"], culprits(page)
    page.type(" nothing")
    assert_equal ["No record has all of these words."], texts(page, ".empty")
  end

  def test_groups_open_to_records
    page = open_leaks
    choose(page, "Show by", "owner")
    assert_equal ["libfoo.so", "libring.so", "(not known)"], texts(page, ".records > li > details > summary b")
    open_first(page, ".records .records .what")
    assert_equal %w[parse_header parse_body], texts(page, ".records .records .what b")
  end

  def test_nothing_is_lost
    assert_equal ["No block is lost."], texts(open_leaks(leaks([])), ".empty")
  end

  HOSTILE = ["<script>document.title='pwned'</script>", "</script><img src=x onerror=alert(1)>", "\e[31mred\a",
             "nul\0", "\u202Egpj", "bad\xFF"].freeze

  def test_hostile_names_are_names
    records = HOSTILE.map { |name| record(path: "/a/#{name}", frames: [frame(function: name, file: name)]) }
    page = open_leaks(leaks(records))
    page.value("document.querySelectorAll('.records summary').forEach((each) => each.click()); true")
    page.await("document.querySelectorAll('.stack li').length === #{HOSTILE.size}")
    assert_includes page.value("document.body.innerText"), "<script>document.title='pwned'</script>"
    refute_match(/[\e\a\0\u202E]/, page.value("document.body.innerText"))
    assert_equal 0, page.value("document.querySelectorAll('.records script, .records img').length")
    refute_equal "pwned", page.value("document.title")
  end

  def test_for_everybody
    [false, true].each do |dark|
      page = open_leaks(dark: dark)
      open_first(page, ".stack")
      assert_empty violations(page)
    end
  end

  def test_narrow
    page = open_leaks(width: 400)
    open_first(page, ".stack")
    assert page.value("document.documentElement.scrollWidth <= 400")
  end

  def test_many_records_come_step_by_step
    page = open_leaks(leaks(Array.new(250) { |number| record(bytes: 1000 - number) }))
    assert_equal 200, culprits(page).size
    page.click(".more")
    assert_equal 250, culprits(page).size
    assert page.value("document.querySelector('.more').hidden")
  end
end
