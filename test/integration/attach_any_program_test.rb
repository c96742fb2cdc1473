# frozen_string_literal: true

require "test_helper"
require "support/verifying"

# Programs in which no Ruby runs: heapline comes and goes, and what Ruby's job does elsewhere a thread of its own does.
class AttachAnyProgramTest < Minitest::Test
  include Verifying

  def say(*words, of:)
    waiting = words.first == "report" ? [] : Heapline::TestHelper::PATIENTLY
    out, err, status = heapline(*words, of.pid.to_s, *waiting)
    [out, err, status.exitstatus]
  end

  # [kind, blocks, bytes, function that asked for them]
  def losses(told, *options)
    out, err, status = say("leaks", "--json", *options, of: told)
    assert_includes [0, 1], status, err
    JSON.parse(out)["records"].map do |record|
      [*record.values_at("kind", "blocks", "bytes"), record["frames"].map { |frame| frame["function"] }.compact.first]
    end
  end

  def test_it_is_attached_to_and_detached_from
    told = start_verifying("fl")
    told.tell(1000)
    assert_match(/\Aattached to #{told.pid} \(verifying\): paused \d+\.\d ms; .+ there before/,
                 say("attach", of: told).first)
    told.tell(40)
    lost = snapshot(told).select { |site| site.bytes_allocated == 40 * 502 }
    assert_equal([[40, 0, "verifying"]], lost.map { |site| [site.allocations, site.frees, site.location.library] })
    assert_match(/\Adetached from #{told.pid}/, say("detach", of: told).first)
    assert_match(/is not counted: heapline attach #{told.pid} counts it$/, say("detach", of: told)[1])
    ends_as_it_would(told)
  end

  # Those from before are held by nothing, either, and are not lost.
  def test_lost_blocks_since_then
    told = start_verifying("fl")
    told.tell(1000)
    session(told).attach({ blocks: true })
    told.tell(40)
    assert_includes losses(told), ["definite", 40, 40 * 502, "lose"]
    heapline("baseline", told.pid.to_s, *Heapline::TestHelper::PATIENTLY)
    told.tell(7)
    assert_includes losses(told, "--since", "baseline"), ["definite", 7, 7 * 502, "lose"]
    ends_as_it_would(told)
  end

  def test_lost_blocks_of_one_that_was_counted_from_its_start
    told = start_verifying("", before: heapline_command("run", "--quiet", "--any", "--blocks"))
    told.tell(40)
    assert_includes losses(told), ["definite", 40, 40 * 502, "lose"]
    ends_as_it_would(told)
  end

  def test_free_memory_is_given_back
    told = start_verifying("fl")
    session(told).attach({})
    told.tell(-1000)
    out, err, = say("trim", "--format", "json", of: told)
    assert_empty err
    before, after = JSON.parse(out).values_at("rss_before_bytes", "rss_after_bytes")
    assert_operator before - after, :>, 15_000_000
    refute_match(/object heap/, say("rss", of: told).first)
    ends_as_it_would(told)
  end

  # Started by a program under heapline, it has the library in it, which counts only Ruby programs.
  def test_one_that_was_left_out
    told = start_verifying("", before: heapline_command("run", "--quiet", RbConfig.ruby, "-e", "exec(*ARGV)"))
    assert_empty Dir[path("flights/*.flight")]
    session(told).attach({})
    told.tell(40)
    assert_equal([40], snapshot(told).select { |site| site.bytes_allocated == 40 * 502 }.map(&:allocations))
    session(told).detach
    ends_as_it_would(told)
  end

  # It is not counted; it is said when what is freed shows it.
  def test_one_that_keeps_the_address_of_malloc_on_its_heap
    told = start_telling(NativePrograms.program("hidden_table"))
    session(told).attach({})
    told.tell(2000)
    assert_match(/have no line, 40\.\d\d MB without a line freed since: the program also takes memory that heapline/,
                 say("report", of: told).first.gsub(/\s+/, " "))
    ends_as_it_would(told)
  end

  # What cannot be asked says so in one line, and goes on.
  def test_one_that_cannot_be_stopped
    told = start_verifying("", before: heapline_command("run", "--quiet", "--any", "--blocks"))
    halt(told.pid)
    %w[leaks trim].each do |command|
      out, err, status = heapline(command, told.pid.to_s)
      assert_equal ["", "heapline: process #{told.pid} is stopped; SIGCONT lets it go on\n", 3],
                   [out, err, status.exitstatus]
    end
    Process.kill(:CONT, told.pid)
    ends_as_it_would(told)
  end
end
