# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path("..", __dir__), File.expand_path("../../lib", __dir__))
require "json"
require "stringio"
require "zlib"
require "support/captures"
require "support/code_lines"
require "support/flight_builder"
require "support/growth_simulator"
require "support/heap_dumps"
require "support/leak_reports"
require "support/plans"
require "support/snapshots"

# Small files of every kind that heapline reads, sound ones: what fuzzing begins with.
module Samples
  class << self
    include Snapshots

    # A file with sites in several lanes, a baseline, names of all kinds and, where they are wanted, objects: without
    # them the extension chooses and writes the rows.
    def flight(sites = 2, objects: true)
      builder = FlightBuilder.new(baseline: 2, baseline_kind: 2)
      numbers = (1..sites).map { |line| builder.ruby_site("a.rb", line, label: "A#a", library: "l.so", tag: "t") }
      numbers << builder.native_site("m.so", 16, symbol: "m")
      numbers.each do |site|
        builder.count(site % 2, site, allocations: 9, bytes_allocated: 90, frees: 1, bytes_freed: 10)
      end
      builder.lane(1, baseline: 2, owner: 7)
      builder.base(1, numbers.first, allocations: 1, bytes_allocated: 10)
      builder.old(1, numbers.first, frees: 1, bytes_freed: 10)
      add_objects(builder, numbers) if objects
      builder.to_s
    end

    # A dump with all kinds of lines.
    def heap_dump
      dump = Heapline::HeapDumps::Builder.new.root("vm", [1, 3]).klass(1, "App")
      dump.object(2, [1], type: "CLASS", singleton: true, superclass: "0x7f0000000028").object(3, [4, 5], klass: 2)
      dump.object(4, type: "STRING", value: "a\u0000b", bytesize: 3, encoding: "UTF-8", embedded: true, frozen: true)
      dump.object(5, [3], type: "DATA", struct: "proc", file: "a.rb", line: 3, method: "m", generation: 7)
      dump.object(6, type: "IMEMO", imemo_type: "iseq").names(3, 4 => "@name").names("vm", 3 => "$app")
      "#{dump}{\"type\":\"HEAPLINE\",\"version\":1,\"pid\":7,\"ruby\":\"3.4\",\"time\":\"2026-11-21T10:00:00Z\"}\n" \
        "{\"address\":\"0x18\", \"type\":\"NONE\"}\n{\"address\":\"0x11\", \"type\":\"SHAPE\", \"memsize\":8}\n" \
        "{\"type\":\"HEAPLINE_END\",\"lines\":11}\n"
    end

    # Compiled code, as `heapline code PID --save` writes it.
    def code
      CodeLines::TEXT + CodeLines::LAST
    end

    # A plan with all operations, of two threads and two epochs.
    def plan
      plan = PlanBuilder.new.malloc(0, 10, awaited: true).wait(0, 1, thread: 1).free(0, thread: 1)
      plan.calloc(0, 20).realloc(0, 500).aligned(1, 64, 6)
      1100.times { |i| plan.malloc(2, i).free(2) }
      plan.malloc(3, 5, thread: 1).ends(1).to_s
    end

    def growth_log(lines: 3, kinds: %i[constant churn])
      GrowthSimulator.new(seed: 1, lines: lines, every: 60, kinds: kinds).write(StringIO.new).string
    end

    # A recording with Ruby objects, samples and GCs.
    def capture(seed = 1)
      builder = Captures.random(seed, 120)
      last = builder.events.last.time
      stack = [["go", "/app/a.rb", 3, nil, nil], [nil, nil, nil, "/lib/libc.so.6", 7]]
      kept = builder.object(last + 1000, 40, "Cache", stack, thread: "main")
      builder.object(last + 2000, 80, "Cache::Page", stack)
      builder.object_freed(last + 3000, kept)
      builder.mark(last + 4000, :gc_start, 3, stack: stack)
      builder.mark(last + 6000, :gc_end, 3)
      builder.samples << [last + 5000, 9_000_000, 4_000_000, 1_000_000]
      builder.libraries["/lib/libc.so.6"] = "x"
      builder.to_s(every: 40)
    end

    # One that heapline recorded, with names in several blocks.
    def recording
      program = "require 'json'; kept = []; 300.times { |i| kept << ('x' * i); JSON.parse('[1,2]') }; " \
                "Thread.new { 'y' * 100_000 }.join; GC.start"
      Dir.mktmpdir("heapline-test") do |directory|
        exe = File.expand_path("../../exe/heapline", __dir__)
        words = [RbConfig.ruby, exe, "record", "-o", "#{directory}/run.hlc", RbConfig.ruby, "-e", program]
        system({ "RUBYOPT" => nil }, *words, err: File::NULL) or raise "nothing was recorded: is heapline compiled?"
        File.binread("#{directory}/run.hlc")
      end
    end

    def report
      require "heapline/accounting/json"
      StringIO.new.tap { |io| Heapline::Accounting::Json.new.render(leaky, io) }.string
    end

    def zstd(bytes)
      IO.popen(%w[zstd -q -c], "r+b") do |io|
        io.write(bytes)
        io.close_write
        io.read
      end
    end

    def leaks
      LeakReports.raw
    end

    def suppressions
      File.read(File.expand_path("../../lib/heapline/leaks/ruby.supp", __dir__)) + <<~TEXT
        leak:*lib*foo*
        race:x
        {
          name
          Memcheck:Leak
          match-leak-kinds: definite,possible
          fun:malloc
          ...
          fun:le?k*
          obj:*libfoo.so*
          ...
        }
      TEXT
    end

    private

    def add_objects(builder, sites)
      builder.object(sites.first, "Cache", allocated: 5, freed: 2, bytes_allocated: 200, bytes_freed: 80, baseline: 2)
      builder.object(sites.last, "Cache", allocated: 1, bytes_allocated: 40)
    end
  end
end
