# frozen_string_literal: true

require_relative "support"

# The table of docs/checks.md, of answers that are known.
class ChecksPageTest < Minitest::Test
  include BadTree

  # A Ruby that says which it is, and answers as the examples' program does; it counts how often it was asked.
  RUBY = <<~SHELL
    #!/bin/sh
    case "$1" in
      -e) printf 9.9 ;;
      exe/heapline) echo >>%<root>s/asked
        echo '{"LEAKS":{"grown":{"a leak":%<leak>s},"seconds":0.5},"CLEAN":{"grown":{"a cache":false},"seconds":0.25}}' ;;
      *) exec sleep 600 ;;
    esac
  SHELL
  PAGE = "before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nafter\n"

  # Yields [ChecksPage, root].
  def with_page(repeats, leak: true)
    in_tree("page.md" => PAGE, "asked" => "") do |root|
      ruby = File.join(root, "ruby")
      File.write(ruby, format(RUBY, root: root, leak: leak))
      File.chmod(0o755, ruby)
      yield Tasks::ChecksPage.new(repeats, ruby: ruby, file: File.join(root, "page.md"),
                                           answers: File.join(root, "answers.jsonl")), root
    end
  end

  def asked(root)
    File.read(File.join(root, "asked")).lines.size
  end

  def test_the_table
    with_page(3) do |page, root|
      capture_io { page.write }
      assert_equal <<~TEXT, File.read(File.join(root, "page.md"))
        before
        <!-- measured: begin -->
        - Ruby 9.9: 3 repeats, 1 of them with busy loops beside, 0 wrong answers. A check took 250 ms (median) where nothing leaks, 500 ms where something does.

        | the block | it | said to grow, Ruby 9.9 |
        | --- | --- | --- |
        | a leak | leaks | 3 of 3 |
        | a cache | does not leak | 0 of 3 |
        <!-- measured: end -->
        after
      TEXT
    end
  end

  def test_only_what_is_missing_is_asked_and_other_rubies_stay
    with_page(3) do |page, root|
      one = { "LEAKS" => { "grown" => { "a leak" => true }, "seconds" => 1 },
              "CLEAN" => { "grown" => { "a cache" => false }, "seconds" => 1 } }
      lines = %w[9.9 9.9 8.8].map { |ruby| JSON.generate(one.merge("ruby" => ruby)) }
      File.write(File.join(root, "answers.jsonl"), "#{lines.join("\n")}\n")
      output, = capture_io { page.write }
      assert_equal 1, asked(root)
      assert_match(/^\| a leak \| leaks \| 1 of 1 \| 3 of 3 \|$/, output)
    end
  end

  def test_a_wrong_answer_is_an_error_but_written
    with_page(1, leak: false) do |page, root|
      _, err = capture_io { assert_raises(SystemExit) { page.write } }
      assert_match(/some answers were wrong/, err)
      assert_match(/1 wrong answers/, File.read(File.join(root, "page.md")))
    end
  end
end
