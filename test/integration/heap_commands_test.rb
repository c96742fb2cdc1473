# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "json"
require "open3"
require "rbconfig"
require "support/heap_example"
require "support/readers"
require "zlib"

# The commands of `heapline heap` on real dumps of this Ruby, made by examples/sessions.rb: 2,000 sessions are born
# before each of three dumps, and stay.
class HeapCommandsTest < Minitest::Test
  include HeapExample
  include Readers

  # Lines of the example by what stands there.
  def line(text)
    at = File.readlines(EXAMPLE).index { |each| each.include?(text) } + 1
    "#{EXAMPLE}:#{at}"
  end

  # The dump as JSON.parse reads it: all that is an object.
  def objects
    @objects ||= File.readlines(dumps.last).map { |each| JSON.parse(each) }
                     .reject { |each| %w[ROOT SHAPE].include?(each["type"]) }
  end

  def test_histograms_are_what_a_few_lines_of_ruby_say
    by_line = objects.group_by { |each| each["file"] ? "#{each["file"]}:#{each["line"]}" : "(not traced)" }
    expected = by_line.map { |name, ones| [name, ones.size, ones.sum { |one| one["memsize"] }] }
    found = json("histo", "--by", "line", "--top", "0", dumps.last)["groups"]
    assert_equal expected.sort, found.map { |row| row.values_at("line", "count", "bytes") }.sort
    assert_operator found.find { |row| row["line"] == line("Session.new") }["count"], :>=, 6000
  end

  def test_the_histogram_for_people
    out = heap!("histo", dumps.last)
    assert_match(/^ +bytes▼ +share +objects +slots  class$/, out)
    assert_match(/ 6,000 .*Session$/, out)
  end

  def test_strings_that_are_equal
    out = json("stat", "--top", "50", dumps.last)
    strings = objects.select { |each| each["type"] == "STRING" && each["value"] }
    same = strings.group_by { |each| each.values_at("value", "encoding") }
    known = same.map { |(value, _), ones| [value, ones.size, ones.sum { |one| one["memsize"] }] }
    whole = out["duplicate_strings"].select { |row| row["value"].bytesize == row["bytesize"] }
    refute_empty whole
    assert_empty whole.map { |row| row.values_at("value", "count", "bytes") } - known
    assert_equal objects.size, out["totals"]["objects"]
    assert_equal(objects.sum { |each| each["memsize"] }, out["types"].sum { |row| row["bytes"] })
  end

  def test_three_dumps_find_the_leak
    out = json("diff", *dumps)
    assert out["totals"]["same_process"]
    sessions = out["by_class"].find { |row| row["class"] == "Session" }
    assert_equal [2000, 2000], sessions.values_at("born_count", "kept_count")
    assert_equal line("page:"), out["by_line"].first["line"]
    refute(out["by_class"].any? { |row| row["class"] == "Cart" && row["kept_count"].positive? })
  end

  def test_two_dumps
    rows = json("diff", "--by", "class", "--sort", "objects", *dumps.first(2))["by_class"]
    assert_equal([4000, 2000], %w[String Session].map do |name|
      rows.find do |row|
        row["class"] == name
      end["growth_count"]
    end
                                                  .map { |count| count.round(-2) })
  end

  def test_who_holds_the_sessions
    out = json("find", "--path", dumps.last, "Session")
    assert_equal 6000, out["class"]["count"]
    assert_match(/Shop.* → Hash\[…\] → #<Session>\z/, out["paths"].first["path"])
    address = out["instances"].first["address"]
    steps = json("find", "--path", dumps.last, address)["path"]
    assert_equal %w[Hash Session], (steps.last(2).map { |step| step["class"] })
  end

  # The example's Hash, its sessions and all that only they have.
  def test_what_the_sessions_retain
    row = json("dominators", dumps.last)["holders"].find { |each| each["class"] == "Hash" && each["length"] == 6000 }
    out = json("dominators", dumps.last, "--under", row["address"])
    session = out["held_classes"].find { |each| each["class"] == "Session" }
    assert_equal 6000, session["count"]
    assert_equal row["retained_bytes"], out["object"]["retained_bytes"]
    assert_operator session["retained_bytes"], :>, 6000 * 400
  end

  def test_graphviz_draws_what_retains_most_and_what_is_around_a_session
    address = json("find", dumps.last, "Session")["instances"].first["address"]
    [[], [address]].each do |words|
      picture = read_by("dot", "-Tsvg", stdin_data: heap!("graph", "--dot", dumps.last, *words))
      assert_match(/<svg/, picture)
      assert_match(/Session|Hash/, picture)
    end
  end

  def test_a_page
    path = File.join(File.dirname(dumps.last), "heap.html")
    heap!("report", dumps.last, "-o", path)
    assert_operator File.size(path), :<, 3_000_000
    assert_match(/Session/, File.read(path))
  end

  def test_packed_and_from_standard_input
    plain = heap!("histo", "--json", dumps.last)
    packed = "#{dumps.last}.gz"
    Zlib::GzipWriter.open(packed) { |file| file.write(File.binread(dumps.last)) }
    same = ->(text) { JSON.parse(text)["groups"] }
    assert_equal same[plain], same[heap!("histo", "--json", packed)]
    assert_equal same[plain], same[heap!("histo", "--json", "-", stdin_data: File.binread(dumps.last))]
    assert_match(/Session/, heap!("find", "-", "Session", stdin_data: File.binread(packed)))
  end

  def test_a_dump_that_was_cut_off
    path = File.join(File.dirname(dumps.last), "cut.json")
    File.binwrite(path, File.binread(dumps.last, File.size(dumps.last) / 2))
    %w[histo stat dominators].each do |command|
      out, err, status = heap(command, path)
      assert_equal [1, ""], [status.exitstatus, err]
      assert_match(/Not all of it could be read.*\n +.*(end|line)/, out)
    end
    assert_equal false, JSON.parse(heap("histo", "--json", path).first)["complete"]
  end

  def test_what_is_no_dump
    [EXAMPLE, "/nonexistent", File.dirname(EXAMPLE)].each do |path|
      out, err, status = heap("histo", path)
      assert_equal [3, ""], [status.exitstatus, out], path
      assert_match(/\Aheapline: .*#{Regexp.escape(File.basename(path))}/, err)
    end
  end

  # A reader that waits for more is ended by one Ctrl-C.
  def test_ctrl_c
    reader, writer = IO.pipe
    errors = IO.pipe
    pid = Process.spawn(environment, *command("histo", "-"), in: reader, out: File::NULL, err: errors.last)
    reader.close
    # More than a pipe holds: when it is written, the command has begun to read.
    20.times { writer.write(File.binread(dumps.first, 500_000)) }
    Process.kill(:INT, pid)
    status = wait(pid)
    errors.last.close
    assert_equal [130, ""], [status.exitstatus, errors.first.read], status.inspect
  ensure
    [reader, writer, *errors].each { |io| io&.close unless io&.closed? }
  end

  def wait(pid)
    await("heapline did not end") { Process.wait2(pid, Process::WNOHANG)&.last }
  end
end
