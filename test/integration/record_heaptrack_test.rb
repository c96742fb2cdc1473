# frozen_string_literal: true

require "test_helper"
require "support/recorded"

# A recording of a deterministic program beside heaptrack's of the same: docs/recording.md explains what differs.
class RecordHeaptrackTest < Minitest::Test
  include Recorded

  PROGRAM = <<~RUBY
    GC.disable
    kept = Array.new(2_000) { |i| "k" * (2_000 + i % 1_000) }
    20_000.times { |i| "t" * (1_100 + i % 300) }
    big = +""
    3_000.times { big << "more and more" * 10 }
    kept.clear
    GC.enable
    GC.start
  RUBY
  # Sizes that the program alone asks for, more than any slot holds (on Ruby 4.1 1,024): strings with the byte that ends
  # them.
  OWN = [*1_101..1_400, *2_001..3_000].freeze
  # heaptrack brings libstdc++ into the program, which takes this as it is loaded.
  RESERVE = 70_000..80_000
  # Ruby copies the environment, which is not the same under both: so many calls, so many bytes may differ.
  CALLS = 100
  BYTES = 20_000

  def setup
    super
    skip "heaptrack is not installed" unless system("command -v heaptrack heaptrack_print >/dev/null")
  end

  def test_totals
    record(PROGRAM)
    assert_predicate @status, :success?, @err
    ours = capture.births.map(&:bytes).tally
    theirs, peak = heaptrack
    reserve = theirs.select { |size, _| RESERVE.cover?(size) && !ours.key?(size) }.sum { |size, count| size * count }
    assert_equal ours.slice(*OWN), theirs.slice(*OWN)
    assert_operator ours.slice(*OWN).values.sum, :>, 22_000
    assert_in_delta ours.values.sum, theirs.values.sum, CALLS
    assert_in_delta bytes(ours), bytes(theirs) - reserve, BYTES
    assert_in_delta our_peak, peak - reserve, BYTES + 10_000 # it is told in steps of 10 kB
  end

  private

  def bytes(sizes)
    sizes.sum { |size, count| size * count }
  end

  def our_peak
    json_report(path("run.hlc"))["totals"]["peak_bytes"]
  end

  # [size => calls, bytes at the peak].
  def heaptrack
    said_by("heaptrack", "-o", path("heaptrack"), RbConfig.ruby, "--disable=gems", path("program.rb"))
    said = said_by("heaptrack_print", "-H", path("sizes"), Dir[path("heaptrack.*")].first)
    sizes = File.readlines(path("sizes")).to_h { |line| line.split.map(&:to_i) }
    [sizes, said[/^peak heap memory consumption: ([\d.]+)M/, 1].to_f * 1e6]
  end

  def said_by(*command)
    text, status = Open3.capture2e(plain_environment, *command)
    assert_predicate status, :success?, text
    text
  end
end
