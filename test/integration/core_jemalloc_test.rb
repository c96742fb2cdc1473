# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "support/core_files"

# `heapline core FILE` on a process that runs on jemalloc: what was planted, and what jemalloc itself counts.
class CoreJemallocTest < Minitest::Test
  include CoreFiles

  LIBRARIES = "{/usr/lib/*-linux-gnu,/usr/lib64,/usr/lib,/usr/local/lib}/libjemalloc.so.2"

  # A block that a global holds, and one that only that one holds; three that are lost; one that was freed; and one of
  # glibc's. Their pointers stay in no stack: the thread that asked for them is gone, with its stack. The signal has
  # jemalloc say what it counts, and keeps the process as it is then.
  LIBRARY = <<~C.freeze
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <unistd.h>
    static int (*control)(const char *, void *, size_t *, void *, size_t);
    void *volatile planted_global, *volatile planted_glibc;
    static void *plant(void *none) {
        void *volatile *held = calloc(1, 300000), *volatile *one = calloc(1, 17000);
        void *volatile *other = calloc(1, 18000), *volatile *small = calloc(1, 3500);
        void *volatile freed = calloc(1, 700000);
        held[7] = (char *)calloc(1, 310000) + 8;
        one[3] = (void *)other;
        other[4] = (void *)one;
        small[0] = 0;
        planted_global = (void *)held;
        free(freed);
        void *libc = dlopen("libc.so.6", RTLD_LAZY);
        planted_glibc = ((void *(*)(size_t))dlsym(libc, "malloc"))(100000);
        return none;
    }
    static uint64_t say(const char *name) {
        uint64_t value = 0;
        size_t size = sizeof(value);
        if (control(name, &value, &size, NULL, 0)) abort();
        return value;
    }
    static void stay(int signal) {
        char text[200];
        uint64_t epoch = 1;
        size_t size = sizeof(epoch);
        if (control("epoch", &epoch, &size, &epoch, size)) abort();
        const int length = snprintf(text, sizeof(text), "[%lu, %lu]\\n", say("stats.allocated"), say("stats.retained"));
        if (write(1, text, (size_t)length) < 0 || read(0, text, 1) < 0) abort();
        (void)signal;
    }
    #{PLANTING}
    __attribute__((constructor)) static void begin(void) {
        plant_apart();
        *(void **)&control = dlsym(RTLD_DEFAULT, "mallctl");
        signal(35, stay);
    }
  C
  PROGRAM = <<~RUBY
    class Planted; def initialize(kept) = @kept = kept; end
    KEPT = [nil, Planted.new("needle" * 70_000)]
    STRINGS = Array.new(3000) { |i| "x" * (1000 + i) }
    threads = Array.new(3) { Thread.new { Thread.current[:kept] = Array.new(500) { |i| "t" * (60 + i) }; Thread.stop } }
    Thread.pass until threads.all?(&:stop?)
    Array.new(5000) { |i| "z" * (60 + i) }
    GC.start
    GC.disable
    Process.kill(35, $$)
    sleep
  RUBY

  def setup
    super
    skip "libjemalloc2 is not installed: script/setup --develop" unless jemalloc
  end

  # HEAPLINE_TEST_JEMALLOC: another build of it.
  def jemalloc
    @jemalloc ||= ENV["HEAPLINE_TEST_JEMALLOC"] || Dir[LIBRARIES].first
  end

  # Yields a core, and what jemalloc said: bytes of blocks, and of addresses that it keeps without memory.
  def with_core(*command, settings: "", writer: :gcore)
    Dir.mktmpdir("heapline-core") do |dir|
      File.write(program = File.join(dir, "program.rb"), PROGRAM)
      env = { "HEAPLINE" => "quiet,core", "HEAPLINE_DIR" => File.join(dir, "flights"), "MALLOC_CONF" => settings,
              "LD_PRELOAD" => "#{planted(LIBRARY, dir)} #{jemalloc}" }
      IO.popen([env, *command, RbConfig.ruby, "--disable-gems", program], "r+") do |io|
        said = JSON.parse(io.gets)
        yield core(io.pid, dir, writer), *said
      ensure
        Process.kill(:KILL, io.pid)
      end
    end
  end

  def core(pid, dir, writer)
    return gcore(pid, dir) if writer == :gcore

    assert system(*HEAPLINE, "dump", pid.to_s, "-o", file = File.join(dir, "core"), out: File::NULL)
    file
  end

  # To the byte, whatever waits in threads' stacks.
  %i[gcore dump].product(["tcache:false", "tcache:true"]).each do |writer, settings|
    define_method("test_totals_#{writer}_#{settings}") do
      with_core(writer: writer, settings: settings) do |core, allocated, retained|
        answer = core_json(core)
        arenas = answer["arenas"].select { |row| row["allocator"] == "jemalloc" }
        others = answer["arenas"] - arenas
        assert_equal [1, "glibc"], [others.size, others[0]["allocator"]]
        assert_equal [allocated, retained], [arenas.sum { |row| row["used_bytes"] }, arenas.sum do |row|
          row["retained_bytes"]
        end]
        assert(arenas.all? { |row| row["system_bytes"] >= row["used_bytes"] + row["free_bytes"] })
        leaked = core_json(core, "leaked")["totals"]
        waiting = leaked.dig("cached", "bytes")
        settings == "tcache:false" ? assert_equal(0, waiting) : assert_operator(waiting, :>, 100_000)
      end
    end
  end

  def test_planted
    with_core { |core| blocks_and_holders(core) }
  end

  def blocks_and_holders(core)
    answer = core_json(core)
    used = blocks(answer).select { |row| row["used"] }.map { |row| row["bytes"] }
    assert_empty [327_680, 458_752, 20_480] - used
    assert(used.any? { |bytes| (100_000..100_032).cover?(bytes) })
    strings = answer["sizes"].map { |row| row.values_at("type", "at_least_bytes", "objects") }
    assert_includes strings, ["String", 262_144, 1]
    lost = core_json(core, "leaked")["leaked"].to_h { |row| [row["bytes"], row["blocks"]] }
    assert_equal [2, 1], lost.values_at(2 * 20_480, 3584), lost.inspect
    assert_nil lost[327_680]
    holders(core, blocks(answer))
  end

  def blocks(answer)
    answer["largest_blocks"]
  end

  # The block that only a global's block leads to, and the string of an object.
  def holders(core, rows)
    paths = rows.select do |row|
      row["bytes"] == 327_680
    end.map { |row| core_json(core, "holders", row["address"])["path_text"] }
    assert(paths.any? do |path|
      path.match?(/\Aroot globals of .*libplanted\.so → \(BLOCK\) → \(BLOCK\)\z/)
    end, paths.inspect)
    assert_equal 1, core_json(core, "holders", "Planted").dig("class", "count")
    assert_operator core_json(core, "dominators").dig("totals", "reachable", "bytes"), :>, 1_000_000
  end

  def test_lines_of_blocks
    with_core(*HEAPLINE) do |core|
      lines = core_json(core)["sites"].to_h { |row| [row["location"][%r{[^/]+\z}], row["live_blocks"]] }
      assert_operator lines.fetch("program.rb:3"), :>=, 3000
      assert_equal(5, lines.sum { |line, count| line.start_with?("libplanted.so+") ? count : 0 })
      lost = core_json(core, "leaked")["leaked"].select { |row| row["location"].include?("libplanted.so+") }
      assert_equal(3, lost.sum { |row| row["blocks"] })
    end
  end

  # Wherever it ends it says what is missing; where all of Ruby's heap is, there is no answer.
  def test_a_core_that_is_cut
    with_core do |core, allocated|
      [3, 2].each do |parts|
        File.truncate(core, File.size(core) * (parts - 1) / parts)
        out, err, status = Open3.capture3(*HEAPLINE, "core", core, "--json", "--top", "0")
        next assert_match(/neither heapline nor objects of Ruby/, err) if status.exitstatus == 3

        assert_equal ["", 1], [err, status.exitstatus]
        answer = JSON.parse(out)
        refute_empty answer["problems"]
        assert_operator answer.dig("memory", "used_bytes"), :<=, allocated + 200_000
      end
    end
  end
end
