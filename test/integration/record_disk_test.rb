# frozen_string_literal: true

require "json"
require "test_helper"
require "support/recorded"

# The disk is slow, full or broken: the program does not notice, and what is not in the capture is counted.
class RecordDiskTest < Minitest::Test
  include Recorded

  # A malloc and a free each time, nothing else: so what is lost is known, event by event.
  FLOOD = "GC.disable\nfill = 'f' * 7_000\ntext = +''\nARGV[0].to_i.times { text << fill; text.clear }\nexit 3\n"

  # disk: see test/programs/bad_disk.c. What the accounting counted beside stays to be read.
  def flood(times, disk)
    record_command("--", RbConfig.ruby, "--disable=gems", program(FLOOD), times.to_s,
                   env: { "RUBYOPT" => nil, "LD_PRELOAD" => NativePrograms.library("bad_disk"), "DISK" => disk,
                          "HEAPLINE" => "keep" })
    assert_equal 3, @status.exitstatus, @err
  end

  # Each birth and each end is in the capture or among the lost; of marks and mappings a few are. The line at the end,
  # the totals and the marks in the capture say the same.
  def assert_nothing_unsaid(report)
    allocations, _, frees = accounted(report["captures"].first["pid"])
    calls = report["functions"].reject { |function| function["function"].match?(/m(un|re)?map/) }
                               .to_h { |function| function.values_at("function", "calls") }
    lost = report["totals"]["lost"]
    assert_in_delta allocations + frees, calls.values.sum + calls["realloc"] + lost, 100
    assert_equal lost, said(/; ([\d,]+) events were lost/)
    assert_equal report["totals"]["events"], said(/recorded ([\d,]+) events/)
    assert_includes report["problems"].join, "events were lost" if lost.positive?
  end

  # A number in the line at the end; 0: not there.
  def said(pattern)
    @err[pattern, 1].to_s.delete(",").to_i
  end

  def report
    out, problem, = heapline("report", "--json", path("run.hlc"))
    assert_empty problem
    JSON.parse(out)
  end

  def test_short_writes_and_interruptions
    flood(70_000, "hihhii." * 100)
    assert_exact(capture)
    refute_match(/lost/, @err)
  end

  # It may be slower than the ring is large, or not: that depends on the machine.
  def test_a_slow_disk
    flood(600_000, "s" * 14)
    assert_nothing_unsaid(report)
    assert_match(/lost: they came faster than they could be written; /, @err) if @err.include?("lost")
  end

  # Full in the middle, once in the middle of a block, and then there is room again.
  def test_a_disk_that_is_full_for_a_while
    flood(400_000, "#{"." * 10}hnnn#{"." * 4}nn")
    assert_nothing_unsaid(report)
    assert_operator report["totals"]["lost"], :>=, 65_536
    assert_match(/; [\d,]+ events were lost: No space left on device; /, @err)
  end

  def test_a_disk_that_fails_for_a_while
    flood(400_000, "#{"." * 10}eee")
    assert_nothing_unsaid(report)
    assert_operator report["totals"]["lost"], :>=, 65_536
    assert_match(%r{; [\d,]+ events were lost: Input/output error; }, @err)
  end

  # From some moment on nothing can be written any more: what was written before can be read.
  def test_a_disk_that_does_not_come_back
    flood(200_000, "#{"." * 8}#{"n" * 500}")
    refute_predicate capture, :finished?
    assert_operator capture.events.size, :>=, 65_536
    assert_match(/; [\d,]+ events were lost: No space left on device; /, @err)
  end
end
