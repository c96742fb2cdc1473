# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "heapline/accounting/flight"
require "heapline/accounting/process_identity"
require "support/core_files"
require_relative "../fuzz/core_sample"

# `heapline core FILE` tells of a core what `heapline report PID` told of the process before, to the byte.
class CoreFileTest < Minitest::Test
  include CoreFiles

  # Small, large and mapped blocks, aligned ones, of several arenas; some are freed.
  PROGRAM = <<~'RUBY'
    kept = Array.new(3000) { |i| "x" * (100 + i) }
    large = [200_000, 3_000_000].map { |size| "y" * size }
    freed = Array.new(2000) { |i| "z" * (60 + i) }
    freed = nil
    threads = Array.new(3) { Thread.new { Thread.current[:kept] = Array.new(500) { |i| "t" * (500 + i) }; Thread.stop } }
    Thread.pass until threads.all?(&:stop?)
    GC.start
    $stdout.syswrite("ready\n")
    $stdin.gets
  RUBY

  def run_heapline(*words)
    out, err, status = Open3.capture3(*HEAPLINE, *words)
    [out, err, status.exitstatus]
  end

  # location => [bytes, blocks] of what lives
  def live(answer)
    groups = answer["sites"].group_by { |site| site["location"] }
    sums = groups.transform_values { |sites| %w[live_bytes live_blocks].map { |key| sites.sum { |site| site[key] } } }
    sums.reject { |_, figures| figures == [0, 0] }
  end

  # Yields the report of a program while it waits, and its core.
  def with_core(env = {})
    Dir.mktmpdir("heapline-core") do |dir|
      File.write(program = File.join(dir, "program.rb"), PROGRAM)
      env = { "HEAPLINE" => "quiet", "HEAPLINE_DIR" => File.join(dir, "flights") }.merge(env)
      IO.popen([env, *HEAPLINE, RbConfig.ruby, program], "r+") do |io|
        io.gets
        # Before it waits it takes a buffer for what it is to read.
        await("it does not wait") { Heapline::Accounting::ProcessIdentity.stat(io.pid).first == "S" }
        report = JSON.parse(IO.popen([env, *HEAPLINE, "report", io.pid.to_s, "--json", "--top", "0"], &:read))
        yield report, gcore(io.pid, dir), Dir[File.join(dir, "flights/*.flight")].first
        io.puts
      end
    end
  end

  def test_it_tells_what_the_report_told
    with_core do |report, core, flight|
      assert_equal live(report), live(core_json(core))
      of_another_process(core, flight)
      cut_anywhere(core, report)
      without_its_flight(core, flight)
    end
  end

  # By the kernel or by gcore; HEAPLINE=core keeps the lines in it, so that it is enough alone.
  def test_lines_in_the_core_and_blocks_with_tails
    with_core("HEAPLINE" => "quiet,blocks,core") do |report, core, flight|
      File.unlink(flight)
      assert_equal live(report), live(core_json(core))
    end
  end

  # A process that had the same number at another time is not taken for it.
  def of_another_process(core, flight)
    other = "#{core}.flight"
    FileUtils.cp(flight, other)
    ticks = Heapline::Accounting::Flight.header(flight)[:start_ticks]
    at = File.binread(other, 4096).index([ticks].pack("Q"))
    File.binwrite(other, [ticks - 1].pack("Q"), at)
    _, err, status = run_heapline("core", "--flight", other, core)
    assert_equal 3, status
    assert_match(/of an earlier or later process \d+, the core of \d+/, err)
  end

  # Wherever it ends: what is said is one line, or what there is with what is missing, and never more than there was.
  def cut_anywhere(core, report)
    all = File.size(core)
    [all * 2 / 3, 70_000, 4000, 63, 0].each do |size|
      File.truncate(core, size)
      out, err, status = run_heapline("core", core, "--json", "--top", "0")
      assert_equal out.empty? ? 3 : 1, status, "cut at #{size}: #{err}"
      next assert_equal 1, err.lines.size, "cut at #{size}: #{err}" if out.empty?

      answer = JSON.parse(out)
      refute_empty answer["problems"]
      assert_operator answer.dig("totals", "live_bytes").to_i, :<=, report.dig("totals", "live_bytes")
    end
  end

  def without_its_flight(core, flight)
    File.rename(flight, "#{flight}.away")
    assert_equal 3, run_heapline("core", core).last
    File.rename("#{flight}.away", flight)
  end

  # Of a process without heapline: as many objects as it has, and the lines of its threads as Ruby tells them.
  PLAIN = <<~'RUBY'
    class Planted; def initialize; @text = "p" * 5000; end; end
    module Inner; class Another < Planted; end; end
    class Ünï < Planted; end
    module Inner; class Ñ < Planted; end; end
    long = Object.const_set("L#{"o" * 5000}", Class.new(Planted))
    $kept = [Array.new(777) { Planted.new }, Array.new(55) { Inner::Another.new }]
    $named = { Ünï => 44, Inner::Ñ => 33, long => 22 }.map { |name, count| Array.new(count) { name.allocate } }
    $sized = [Array.new(333) { "s" * 70_000 }, Array.new(44) { Array.new(9000) { |i| i } }]
    def deep(depth) = depth.zero? ? Thread.stop : deep(depth - 1)
    threads = Array.new(2) { |i| Thread.new { deep(3 + i) } }
    Thread.pass until threads.all?(&:stop?)
    at = threads.map { |thread| thread.backtrace_locations.drop(1).map { |line| "#{line.path}:#{line.lineno}" } }
    $stdout.syswrite(at.inspect + "\n")
    $stdin.gets
  RUBY

  # A thread that lives on has in its arena two blocks and, between them, one that it has freed; and a block with a
  # mapping for itself.
  LIBRARY = <<~C
    #include <pthread.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <unistd.h>
    void *volatile planted_blocks[4];
    static volatile int planted;
    static void *plant(void *none) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
        planted_blocks[0] = malloc(100000);
        void *volatile between = malloc(90000);
        planted_blocks[1] = malloc(110000);
        planted_blocks[2] = malloc(35000000);
        free(between);
        planted = 1;
        for (;;) pause();
        return none;
    }
    __attribute__((constructor)) static void begin(void) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, plant, NULL)) abort();
        while (!planted) usleep(100);
    }
  C

  # Yields what its core says, and what it said before.
  def with_planted(*command)
    Dir.mktmpdir("heapline-core") do |dir|
      File.write(program = File.join(dir, "program.rb"), PLAIN)
      env = { "LD_PRELOAD" => planted(LIBRARY, dir), "HEAPLINE" => "quiet,core",
              "HEAPLINE_DIR" => File.join(dir, "flights") }
      IO.popen([env, *command, RbConfig.ruby, "--disable-gems", program], "r+") do |io|
        lines = io.gets
        core = gcore(io.pid, dir)
        io.puts
        yield core_json(core), lines
      end
    end
  end

  def test_without_heapline
    with_planted do |answer, lines|
      objects_and_lines(answer, lines)
      blocks_and_arenas(answer)
      sizes(answer["sizes"])
    end
  end

  def test_blocks_with_their_lines
    with_planted(*HEAPLINE) do |answer,|
      rows = blocks_and_arenas(answer)
      assert(rows.all? { |row| row["location"].start_with?("libplanted.so+") }, rows.inspect)
    end
  end

  # What malloc gives for these, with and without what heapline needs behind each.
  def blocks_and_arenas(answer)
    rows = answer["largest_blocks"]
    used = [[35_000_000, 4096], [110_000, 32], [100_000, 32]].map { |bytes, more| block(rows, bytes, more) }
    freed = block(rows, 90_000, 32)
    assert_equal([nil, freed["arena"], freed["arena"]], used.map { |row| row["arena"] })
    assert_equal([true, true, true, false], [*used, freed].map { |row| row["used"] })
    arena = answer["arenas"].find { |row| row["arena"] == freed["arena"] }
    assert_equal [1, freed["bytes"] + 8], arena.values_at("free_chunks", "largest_free_bytes")
    assert_equal arena["free_bytes"], arena["largest_free_bytes"]
    assert_in_delta 210_000, arena["used_bytes"], 2000
    assert_in_delta arena["system_bytes"], arena.values_at("used_bytes", "free_bytes", "top_bytes").sum, 2300
    used
  end

  def block(rows, bytes, more)
    found = rows.select { |row| (bytes..bytes + more).cover?(row["bytes"]) }
    assert_equal 1, found.size, "blocks of #{bytes} bytes"
    found.first
  end

  def sizes(rows)
    planted = { "String" => [333, 65_536], "Array" => [44, 65_536] }
    planted.each do |type, (objects, least)|
      row = rows.find { |one| one.values_at("type", "at_least_bytes") == [type, least] }
      assert_equal [objects, "block", least * 2], row.values_at("objects", "place", "below_bytes"), type
      assert_operator row["object_bytes"], :>, objects * 70_000
    end
    assert(rows.any? { |row| row.values_at("type", "place") == %w[Array slot] })
  end

  def objects_and_lines(answer, lines)
    classes = answer["classes"].to_h { |row| [row["class"], row] }
    planted = classes.fetch_values("Planted", "Inner::Another", "Ünï", "Inner::Ñ", "L#{"o" * 5000}")
    assert_equal([777, 55, 44, 33, 22], planted.map { |row| row["objects"] })
    assert_operator classes.dig("String", "object_bytes"), :>, 832 * 5000
    assert_equal [1, 2, 3], (answer["threads"].map { |thread| thread["thread"] })
    found = answer["threads"].map { |thread| thread["frames"].map { |frame| frame["location"] } }
    JSON.parse(lines).each { |thread| assert_includes found, thread }
  end

  def test_what_is_no_core
    _, err, status = run_heapline("core", __FILE__)
    assert_equal ["heapline: #{__FILE__} is not a core file\n", 3], [err, status]
    _, err, status = run_heapline("core", RbConfig.ruby)
    assert_equal ["heapline: #{RbConfig.ruby} is not a core file, but a program or library\n", 3], [err, status]
  end

  # Whose addresses wrap, and whose parts are all of the file, each.
  def test_cores_that_no_process_left
    Dir.mktmpdir do |directory|
      sample = CoreSample.bytes
      last = CoreSample.bytes(CoreSample::LAST_PAGE)
      many = sample.dup
      (1..3).each do |part|
        many[64 + (part * 56) + 8, 40] = [0, many[64 + (part * 56) + 16, 16], *[sample.size] * 2].pack("Qa16Q2")
      end
      answers = [sample, last, many].map do |bytes|
        File.binwrite("#{directory}/core", bytes) && run_heapline("core", "#{directory}/core")
      end
      assert_equal answers[0], answers[1]
      assert_match(/cannot be read/, answers[0][1])
      assert_equal ["", "heapline: #{directory}/core is damaged: its parts overlap\n", 3], answers[2]
    end
  end
end
