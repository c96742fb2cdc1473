# frozen_string_literal: true

module Bench
  # docs/overhead.md: measurements as Markdown. It computes nothing that Comparison and Targets do not say.
  class OverheadPage
    TOOLS = %w[heapline least blocks watched record record_native mwrap heaptrack].freeze
    OBJECT_TOOLS = ["heapline", *Tool::OBJECTS].freeze
    QUICK = "A quick run, which shows that the suite works: none of these figures says what anything costs."
    DISTURBED = "**The machine was not idle** (load %.2f at the start): the time of a single row, and whether " \
                "it meets its target, says little here. CPU time is affected less, RSS and GC are not."
    HEAD = <<~TEXT
      # What heapline costs

      Written by `rake bench`; do not edit. Every workload runs without a tool (*plain*) and under each tool in turn, each
      time as a process of its own, and again for each round. A figure is how many times as much it took as plain in the
      same round, the median over the rounds; for times, the lowest and highest such ratio follow in parentheses.

      - **time**: elapsed time, of the process or of the part that serves requests; **CPU**: user and system time.
      - **RSS**: the highest resident size (VmHWM), the flight file's pages included.
      - **GC**: `GC.count` at the end. A tool that changes it has changed the program. All but the starts run with 100,000
        initial heap slots (`RUBY_GC_HEAP_INIT_SLOTS` and its successors): without it the heap of so small a program gets
        one size or another by chance, also in plain runs, and GC.count changes with it.
      - C pairs: CPU nanoseconds of a malloc and its free of 64 bytes, in threads of a Ruby process, without the GVL.
      - heapline is preloaded directly with `HEAPLINE=quiet`: this is what a running program pays. The last row is a
        program that `heapline CMD` begins: what that takes beyond the row before it is the command itself.
      - least: no tool, but the least that one can do which knows of each block whose it is when it is freed: eight checked
        bytes at its end and four counters, without lines, ages or threads (bench/workloads/native/least.c). What heapline
        costs beyond it is what its answers cost; it is a bound for every tool that marks blocks so.
      - blocks: heapline with HEAPLINE=blocks: the address of each live block is kept, with its stacks, native and of Ruby.
      - watched: heapline, while a growth log and the ledger are written every second and `heapline top` runs.
      - record: `heapline record`, which writes every event with its Ruby stack to a file; the times include the process
        that writes, and its start. record_native: with `--native`; record_objects: with `--objects`.
      - Tools that trace Ruby objects have their own table. objects: heapline with `--objects`; allocation_tracing:
        `ObjectSpace.trace_object_allocations`; memory_profiler: over the whole program, with its report. The last one
        turns GC off.
      - **missed** marks what misses its target; the reasons, where known, follow the tables.

      [scale.md](scale.md) has what threads, fibers, lines, tags, forks and the rows of reports cost by how many there are.
    TEXT

    # measurements: Array of Measurement
    def initialize(measurements)
      @measurements = measurements
    end

    def to_s
      [HEAD, *@measurements.map { |measurement| section(measurement) }].join("\n")
    end

    private

    def section(measurement)
      comparisons = measurement.comparisons
      targets = Targets.new(comparisons, yjit: measurement.interpreter.end_with?("--yjit"))
      judged = measurement.quick? ? "#{QUICK}\n" : verdicts(targets)
      [heading(measurement), *disturbance(measurement), ratios(measurement, comparisons, targets), judged].join("\n")
    end

    def heading(measurement)
      tools = measurement.tools.except("plain").map { |name, version| "#{name} #{version}".strip }
      absent = measurement.absent.map { |name, reason| " Without #{name}: #{reason}." }
      facts = [measurement.date, measurement.description, *tools, "rounds: #{measurement.runs}", measurement.machine]
      "## Ruby #{measurement.interpreter}\n\n#{facts.join(" · ")}.#{absent.join}\n"
    end

    def disturbance(measurement)
      ["#{format(DISTURBED, measurement.load)}\n"] if measurement.disturbed?
    end

    def ratios(measurement, comparisons, targets)
      objects, others = comparisons.partition { |comparison| comparison.workload.objects? }
      [(malloc_table(measurement, others, targets) unless others.empty?),
       (object_table(measurement, objects) unless objects.empty?)].compact.join("\n")
    end

    def malloc_table(measurement, comparisons, targets)
      tools = TOOLS & measurement.tools.keys
      means = tools.flat_map { |tool| [number(targets.mean(tool)), "", "", ""] }
      table(columns(tools), [*rows(comparisons, tools), ["**geometric mean**, Ruby workloads", "", *means]])
    end

    def object_table(measurement, comparisons)
      tools = OBJECT_TOOLS & measurement.tools.keys
      table(columns(tools), rows(comparisons, tools))
    end

    def columns(tools)
      ["workload", "plain", *tools.flat_map { |tool| ["#{tool} time", "CPU", "RSS", "GC"] }]
    end

    def rows(comparisons, tools)
      comparisons.map { |comparison| row(comparison, tools) }
    end

    def row(comparison, tools)
      [comparison.workload.title, Cells.plain(comparison), *tools.flat_map { |tool| Cells.of(comparison, tool) }]
    end

    def verdicts(targets)
      all = targets.verdicts
      return "" if all.empty?

      rows = all.map do |verdict|
        [subject(verdict), verdict.target, verdict.measured, verdict.met ? "met" : "**missed**"]
      end
      [table(["", "target", "measured", ""], rows), *remarks(all)].join("\n")
    end

    def remarks(verdicts)
      missed = verdicts.reject(&:met).map do |verdict|
        reason = REMARKS[[verdict.workload&.name, verdict.kind]] || "not explained yet."
        "- #{subject(verdict)}, #{verdict.target}: #{reason}\n"
      end
      missed.empty? ? [] : ["Missed:\n", missed.join]
    end

    def subject(verdict)
      verdict.workload&.title || "Ruby workloads"
    end

    def number(value)
      value ? format("%.3f", value) : "–"
    end

    def table(columns, rows)
      lines = [columns, columns.map.with_index { |_, i| i.zero? ? "---" : "---:" }, *rows]
      lines.map { |cells| "| #{cells.join(" | ")} |\n" }.join
    end
  end
end
