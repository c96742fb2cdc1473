# frozen_string_literal: true

require "test_helper"
require "heapline/files/json_value"

class JsonValueTest < Minitest::Test
  def value(data)
    Heapline::JsonValue.parse(data.is_a?(String) ? data : JSON.generate(data), "x")
  end

  def test_what_is_there
    row = value({ a: 1, b: 2.6, c: "é", d: [1, 2], e: { f: { g: "h" } }, i: nil, j: true, k: "0x1f" })
    assert_equal [1, 3, "é", [1, 2], 31],
                 [row.number("a"), row.number("b"), row.text("c"), row.numbers("d"), row.address("k")]
    assert_equal ["h", nil, nil, true, false],
                 [row.fetch("e").fetch("f").text("g"), row.text?("i"), row.number?("z"), row.true?("j"), row.true?("a")]
    assert_equal([%w[f h]], row.pairs("e").map { |key, inner| [key, inner.text("g")] })
  end

  def test_what_is_wrong_is_named_with_its_place
    row = value({ rows: [{ n: 1 }, { n: "1" }], n: 1 << 64, a: "1f" })
    { "x: rows[1].n is no number" => -> { row.list("rows").each { |one| one.number("n") } },
      "x: n is no number that heapline writes" => -> { row.number("n") }, "x: n is no list" => -> { row.list("n") },
      "x: z is no text" => -> { row.text("z") }, "x: a is no address" => -> { row.address("a") },
      "x: n is no object" => -> { row.fetch("n").text("y") }, "x: rows is no object" => -> { row.pairs("rows") },
      "x is of version 1, and this heapline reads version 3: it is too old" =>
        -> { row.list("rows").first.check_version("n", 3) } }.each do |message, asking|
      assert_equal message, assert_raises(Heapline::InputError, &asking).message
    end
  end

  def test_text_is_valid
    assert_equal "a\ufffd", Heapline::JsonValue.new({ "a" => "a\xff" }, "x").text("a")
  end

  def test_what_is_no_json
    ["", "{", "nope", ("[" * 100) + ("]" * 100), '{"a":1}{'].each do |text|
      assert_match(/\Ax is (?:damaged or no JSON|no JSON of heapline)/, assert_raises(Heapline::InputError) do
        value(text)
      end.message)
    end
    assert_match(/from (?:byte \d+|line 1 column \d+) on/, assert_raises(Heapline::InputError) do
      value('{"a":b}')
    end.message)
  end
end
