# frozen_string_literal: true

require "json"
require "open3"
require "test_helper"
require "heapline/accounting/flight"
require "heapline/accounting/native_places"
require "heapline/capture"
require "support/cli"
require "support/native_programs"

# Programs that are not Ruby, with --any: lines of C and C++ that are known.
class AnyProgramTest < Minitest::Test
  include OwnDirectory

  EXE = File.expand_path("../../exe/heapline", __dir__)
  # Line in plain.cpp => [allocations, frees, bytes of all] of the blocks that it asks for.
  PLANTED = { 15 => [700, 0, 700_700], 19 => [40, 0, 20_080], 23 => [1000, 1000, 303_000],
              35 => [50, 50, 50 * 32], 36 => [1, 1, 505] }.freeze

  def run_heapline(*words)
    @out, @err, @status = Open3.capture3({ "HEAPLINE_DIR" => @directory }, RbConfig.ruby, EXE, *words,
                                         chdir: @directory)
  end

  def path(name)
    File.join(@directory, name)
  end

  def program
    NativePrograms.program("plain", "-lpthread")
  end

  def snapshots
    Dir[path("*.flight")].map { |file| Heapline::Accounting::Flight.read(file) }
  end

  # { line in plain.cpp => [allocations, frees, bytes] }
  def planted(sites)
    named = Heapline::Accounting::NativePlaces.named(sites.select { |site| site.location.library == "plain" })
    lines = named.group_by { |site| site.location.label[/plain\.cpp:(\d+)\z/, 1].to_i }
    lines.slice(*PLANTED.keys).transform_values { |of_line| of_line.map { |site| counts(site) }.transpose.map(&:sum) }
  end

  def counts(site)
    [site.allocations, site.frees, site.bytes_allocated]
  end

  def test_the_report
    run_heapline("--any", program)
    assert_equal ["done\n", 5], [@out, @status.exitstatus]
    assert_match(/\A +7\d\d\.\d\d kB +7\d\d\.\d\d kB +700 +700 +0 +- +plain\+0x\h+ +keep\(.*\) +plain\.cpp:15$/,
                 rows.first)
    assert_match(/--by library +which library\?$/, @err)
    refute_match(/GCs|temporary|object heap|ruby/i, @err.lines.grep_v(/next|heapline run|of unknown use/).join)
  end

  def rows
    @err.lines.grep(/plain\+0x/)
  end

  def test_each_line_has_its_counts
    run_heapline("-q", "--keep", "--any", program)
    snapshot, = snapshots
    assert_equal PLANTED, planted(snapshot)
    assert_equal [snapshot.allocations - snapshot.frees, snapshot.bytes_allocated - snapshot.bytes_freed],
                 [snapshot.live_blocks, snapshot.live_bytes]
    assert_nil snapshot.gc_count
  end

  # What lived for 0.6 s or, on a busy machine, longer; and what was freed at once.
  def test_lifespans_are_times
    run_heapline("-q", "--keep", "--any", program)
    snapshot, = snapshots
    planted = snapshot.select { |site| PLANTED.value?(counts(site)) }
    long, short = [1, 1000].map { |frees| planted.select { |site| site.frees == frees } }
    assert_equal [1, 1], [long.size, short.size]
    assert_includes 500..((snapshot.duration * 1000) + 200), long.first.mean_age_ms, "right to a tenth of a second"
    assert_operator short.first.mean_age_ms, :<, 200
  end

  def test_children_stay_untouched_where_none_is_to_be_followed
    run_heapline("run", "-q", "--keep", "--any", "--no-follow", program, program)
    assert_equal ["done\n" * 2, 1], [@out, snapshots.size]
  end

  def test_any_takes_the_children_too
    run_heapline("run", "-q", "--keep", "--any", program, program)
    assert_equal ["done\n" * 2, 5], [@out, @status.exitstatus]
    assert_equal([PLANTED] * 2, snapshots.map { |snapshot| planted(snapshot) })
  end

  def test_what_shows_a_running_one_tells_of_no_gc
    while_cat_runs do |pid|
      run_heapline("top", "--once", "--every", "0.2", pid.to_s)
      shown = @out
      run_heapline("report", pid.to_s)
      [shown, @out].each { |text| assert_match(/ frees? +life |blocks +life +trend /, text) }
      refute_match(/GCs|temp/, shown + @out)
    end
  end

  def test_what_needs_a_vm_says_so_at_once
    while_cat_runs("--blocks") do |pid|
      [%w[stack], %w[pages], %w[code], %w[heap dump -o x.json]].each do |words|
        run_heapline(*words, pid.to_s, "--timeout", "1000")
        assert_match(/\Aheapline: no Ruby runs in process #{pid}, and only Ruby can answer this; .*\n\z/, @err)
        assert_equal 3, @status.exitstatus, words
      end
    end
  end

  # `heapline --any cat` that waits for its input; yields the pid once it is counted.
  def while_cat_runs(*options)
    words = [RbConfig.ruby, EXE, "run", "-q", "--any", *options, "cat"]
    Open3.popen2({ "HEAPLINE_DIR" => @directory }, *words) do |input, output, thread|
      input.puts "there"
      assert_equal "there\n", output.gets
      yield thread.pid
    end
  end

  def test_a_ruby_program_that_starts_one
    run_heapline("run", "-q", "--keep", RbConfig.ruby, "-e", "system(#{program.dump})")
    assert_equal [true], snapshots.map(&:ruby?)
    run_heapline("run", "-q", "--keep", "--any", RbConfig.ruby, "-e", "system(#{program.dump})")
    assert_equal [false, true, true], snapshots.map(&:ruby?).sort_by(&:to_s)
  end

  def test_lost_blocks
    run_heapline("leaks", "--any", "--format", "json", "-o", path("leaks.json"), program)
    assert_equal ["done\n", 5], [@out, @status.exitstatus], @err
    lost = JSON.parse(File.read(path("leaks.json")))["records"].select { |record| record["kind"] == "definite" }
    frames = lost.map { |record| record["frames"].map { |frame| frame["function"] } }
    assert_equal([[40, 20_080]], lost.map { |record| record.values_at("blocks", "bytes") })
    assert_equal ["lose(unsigned long)", "main"], frames.first.first(2)
  end

  def test_leaks_without_any_tells_of_it
    run_heapline("leaks", program)
    assert_equal "heapline: no process of #{program} was searched: none was Ruby " \
                 "(for any program: heapline leaks --any #{program})\n", @err
    assert_equal 5, @status.exitstatus
  end

  def test_a_static_program_is_said
    path = NativePrograms.program("static_child", "-static")
    { "leaks" => "searched: none could be", "record" => "recorded: .* could be" }.each do |command, said|
      run_heapline(command, "--any", path)
      assert_match(/#{said}( counted)? \(a program that is linked statically cannot\)$/, @err)
    end
  rescue RuntimeError => e
    skip "no static libc: #{e.message.lines.last}"
  end

  def test_recording
    run_heapline("record", "--any", "-o", "run.hlc", program)
    assert_equal ["done\n", 5], [@out, @status.exitstatus], @err
    capture = Heapline::Capture.open(path("run.hlc"))
    lost = capture.stacks.select { |stack| stack.frames.any? { |frame| frame.label == "lose(unsigned long)" } }
    assert_equal([[40, 20_080]], lost.map { |stack| [stack.sums.live_blocks, stack.sums.live_bytes] })
    assert_includes lost.first.frames.map(&:label), "main"
  end

  def test_in_vain
    run_heapline("record", "-o", "run.hlc", program)
    assert_includes @err, "(for any program: heapline record --any -o run.hlc #{program})"
    assert_equal 5, @status.exitstatus
  end
end
