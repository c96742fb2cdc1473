# frozen_string_literal: true

require "test_helper"
require "objspace"
require "tmpdir"
require "support/core_files"
require "support/leak_corpus"

# `heapline core FILE holders`, `leaked`, `dominators` and `heap` find what was planted in the process before.
class CoreHoldersTest < Minitest::Test
  include CoreFiles

  # A block that a global holds, and one that only that block holds, within it; lost ones: alone, and two that hold
  # each other. libc's file is mapped a second time, below the arena of the thread that asked for them, as Ruby maps it
  # to write its report of a crash. Ruby's memory has words of which one half was written over by a small number; with
  # the other half they may lead into the first megabytes of an arena, which are used here for what is not looked for.
  # And there is what looks like one page of Ruby's heap, of a size that this Ruby does not have, and what looks like
  # one that it keeps empty, but for the size of its description: that holds a block.
  LIBRARY = <<~C.freeze
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <pthread.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    void *volatile planted_global, *volatile first[40];
    static void map_libc_below(uintptr_t arena) {
        Dl_info libc;
        if (dladdr((void *)qsort, &libc))
            mmap((char *)arena - (1 << 24), 4096, PROT_READ, MAP_SHARED, open(libc.dli_fname, O_RDONLY | O_CLOEXEC), 0);
    }
    static void plant_false_page(uintptr_t bytes) {
        char *room = mmap(NULL, bytes * 3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uintptr_t *page = (void *)(((uintptr_t)room + bytes - 1) & -bytes), *description = page + bytes / 8;
        page[0] = (uintptr_t)description;
        description[0] = 40 | (bytes - 16 - 64) / 40 << 16;
        description[1] = (uintptr_t)page + 16;
    }
    static void plant_false_empty_page(uintptr_t bytes) {
        char *room = mmap(NULL, bytes * 3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uintptr_t *page = (void *)(((uintptr_t)room + bytes - 1) & -bytes), *description = calloc(1, 200);
        page[0] = (uintptr_t)description;
        description[4] = (uintptr_t)page; /* as on Ruby 4.0 */
        page[100] = (uintptr_t)calloc(1, 29000);
    }
    static void *plant(void *none) {
        for (int i = 0; i < 40; i++) first[i] = calloc(1, 100000);
        void *volatile *held = calloc(1, 30000), *volatile *one = calloc(1, 9100);
        void *volatile *other = calloc(1, 9200), *volatile *lost = calloc(1, 9300);
        held[7] = (char *)calloc(1, 31000) + 8;
        one[3] = (void *)other;
        other[4] = (void *)one;
        lost[0] = 0;
        planted_global = (void *)held;
        map_libc_below((uintptr_t)held & -(1UL << 26));
        return none;
    }
    #{PLANTING}
    __attribute__((constructor)) static void begin(void) {
        plant_false_page(1 << 16);
        plant_false_page(1 << 14);
        plant_false_empty_page(1 << 16);
        plant_apart();
    }
  C
  PROGRAM = <<~'RUBY'
    class Planted; def initialize(kept) = @kept = kept; end
    module Inner; CHAIN = { list: [nil, Planted.new("needle" * 700)] }; end
    GC.start
    $stdout.syswrite("#{ObjectSpace.count_objects.inspect}\n")
    $stdin.gets
  RUBY

  # Yields its core, and what it said before.
  def with_core(*command, source: PROGRAM)
    Dir.mktmpdir("heapline-core") do |dir|
      File.write(program = File.join(dir, "program.rb"), source)
      env = { "HEAPLINE" => "quiet,core", "HEAPLINE_DIR" => File.join(dir, "flights"),
              "LD_PRELOAD" => planted(LIBRARY, dir) }
      IO.popen([env, *command, RbConfig.ruby, "--disable-gems", program], "r+") do |io|
        said = io.gets
        core = gcore(io.pid, dir)
        io.puts
        yield core, said, program
      end
    end
  end

  # Address of the one block of so many bytes that malloc gave.
  def block(dump, bytes)
    found = dump.select { |line| line["type"] == "BLOCK" && (bytes..bytes + 40).cover?(line["memsize"]) }
    assert_equal 1, found.size, "blocks of #{bytes}"
    found.first["address"]
  end

  def dump(core)
    file = "#{core}.json"
    assert system(*HEAPLINE, "core", core, "heap", "-o", file)
    assert_equal 0o600, File.stat(file).mode & 0o777
    refute_includes File.binread(file), "needleneedle"
    File.foreach(file).map { |line| JSON.parse(line) }
  end

  def test_without_heapline
    with_core do |core, said|
      lines = dump(core)
      chains(core, lines)
      count(lines, said)
      lost = core_json(core, "leaked")["leaked"].map { |row| row["bytes"] }
      [9100, 9200, 9300].each { |bytes| assert_includes lost, bytes + (-(bytes + 8) % 16) }
      [29_000, 30_000, 31_000].each { |bytes| refute_includes lost, bytes + (-(bytes + 8) % 16) }
    end
  end

  # By line; and what C asked for before Ruby began is at its library.
  def test_with_heapline
    with_core(*HEAPLINE) do |core, _, program|
      chains(core, dump(core))
      rows = core_json(core, "holders", "#{program}:2")["paths"].map { |row| row["path"] }
      # To its bytes a word may lead, too, that the stack has of earlier calls; `chains` has seen that the string does.
      assert(rows.any? { |path| path.end_with?("(BLOCK)") }, rows.inspect)
      lost = core_json(core, "leaked")["leaked"].select { |row| row["location"].start_with?("libplanted.so+") }
      assert_equal [3, true], [lost.sum { |row| row["blocks"] }, lost.all? { |row| row["bytes"] > 9000 }]
    end
  end

  # Without heapline other memory that was used before holds some, too: most of them on Ruby 3.1, and once 256 on 4.0.
  # Of a core whose empty pages are roots 169 were found.
  def test_what_dropped_objects_left_holds_no_lost_block
    skip "Ruby #{RUBY_VERSION} lists its empty pages" if RUBY_VERSION < "3.4"

    source = "#{LeakCorpus.setup}#{LeakCorpus::LOST_AFTER_ARRAYS}GC.start; $stdout.syswrite(\"\\n\"); $stdin.gets"
    with_core(source: source) do |core|
      lost = core_json(core, "leaked")["leaked"].select { |row| row["bytes"] / row["blocks"] == 1016 }
      assert_operator lost.sum { |row| row["blocks"] }, :>=, 1700
    end
  end

  def chains(core, lines)
    path = core_json(core, "holders", block(lines, 31_000))["path_text"]
    assert_match(/\Aroot globals of .*libplanted\.so → \(BLOCK\) → \(BLOCK\)\z/, path)
    planted = core_json(core, "holders", "Planted")
    assert_equal 1, planted.dig("class", "count")
    text = planted_text(lines)
    above(lines, text, %w[OBJECT ARRAY HASH])
    assert_operator core_json(core, "dominators").dig("totals", "reachable", "bytes"), :>, 73_000
  end

  # The string of 4,200 bytes, by the block that it leads to.
  def planted_text(lines)
    held = block(lines, 4200)
    lines.find { |line| line["type"] == "STRING" && line["references"].include?(held) }["address"]
  end

  # Types of those that hold it, one above the other; between them may lie blocks.
  def above(lines, address, types)
    types.each do |type|
      holders = lines.select { |line| line["address"] && line["references"].include?(address) }
      blocks = holders.select { |line| line["type"] == "BLOCK" }.map { |line| line["address"] }
      holders += lines.select { |line| line["address"] && line["references"].intersect?(blocks) }
      found = holders.find { |line| line["type"] == type }
      assert found, "no #{type} holds #{address}"
      address = found["address"]
    end
  end

  # As many as Ruby counted; since then it has made some for its answer.
  def count(lines, said)
    counted = said.scan(/:?T_(\w+)(?:=>|: )(\d+)/).to_h
    types = lines.map { |line| line["type"] }.tally
    %w[CLASS MODULE OBJECT HASH DATA FLOAT].each do |type|
      assert_in_delta counted.fetch(type).to_i, types.fetch(type), 12, type
    end
  end

  def test_what_is_asked_wrongly
    { %w[holders] => /holders of what\?/, %w[held] => /held cannot be asked of a core: holders, dominators/,
      %w[heap] => /where to\?/, %w[leaked more] => /leaked does not take more/ }.each do |words, said|
      _, err, status = Open3.capture3(*HEAPLINE, "core", __FILE__, *words)
      assert_equal [2, 1], [status.exitstatus, err.lines.size]
      assert_match said, err
    end
  end
end
