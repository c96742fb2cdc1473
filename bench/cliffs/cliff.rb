# frozen_string_literal: true

require "open3"
require "rbconfig"

module Bench
  # Costs by size.
  module Cliffs
    class Broken < StandardError; end

    ROOT = File.expand_path("../..", __dir__)
    CORE = File.join(ROOT, "lib/heapline/libheapline.so")

    # One question. what: of what there is more and more; unit: what the cost is for; powers: the least and the greatest
    # size, as powers of two. The program, bench/cliffs/NAME.rb, gets a size (and `how`) and prints microseconds of
    # processor time for each unit. options: HEAPLINE's, besides "quiet". Plain runs and those under heapline take
    # turns; of either the median counts.
    Cliff = Struct.new(:name, :how, :what, :unit, :powers, :options, keyword_init: true) do
      # Yields each line as soon as it is known.
      def report(runs:, most: nil)
        yield "| #{what} | plain, µs a #{unit} | heapline | more |"
        yield "|---:|---:|---:|---:|"
        (powers.first..[powers.last, most].compact.min).each do |power|
          pairs = Array.new(runs) { [cost(power, {}), cost(power, accounting)] }
          plain, accounted = pairs.transpose.map { |costs| median(costs) }
          yield format("| %<size>d | %<plain>.3f | %<accounted>.3f | %<more>.3f |",
                       size: 2**power, plain: plain, accounted: accounted, more: accounted - plain)
        end
      end

      private

      def accounting
        { "LD_PRELOAD" => CORE, "HEAPLINE" => ["quiet", *options].join(",") }
      end

      def cost(power, env)
        program = File.join(__dir__, "#{name}.rb")
        arguments = [(2**power).to_s, *how]
        output, status = Open3.capture2e(env, RbConfig.ruby, "-I", File.join(ROOT, "lib"), program, *arguments)
        raise Broken, "#{name} of 2^#{power}: #{output}" unless status.success? && output.match?(/\A\d+\.\d+\n\z/)

        Float(output)
      end

      def median(values)
        values.sort[values.size / 2]
      end
    end

    ALL = {
      "lines" => Cliff.new(name: "lines", what: "lines", unit: "line seen for the first time", powers: [10, 20]),
      "tags" => Cliff.new(name: "tags", what: "tags", unit: "tag that is new, with one line", powers: [10, 17]),
      "report" => Cliff.new(name: "report", what: "lines", unit: "line in a report of 20", powers: [10, 20]),
      **%w[csv json pprof collapsed speedscope html].to_h do |format|
        ["report_#{format}", Cliff.new(name: "report", how: format, what: "lines",
                                       unit: "line in a report as #{format}", powers: [10, 20])]
      end,
      "capture" => Cliff.new(name: "capture", what: "lines", unit: "line in a report of a recording", powers: [10, 17]),
      "capture_timeline" => Cliff.new(name: "capture", how: "--timeline", what: "lines",
                                      unit: "line in the timeline of a recording", powers: [10, 17]),
      "capture_tree" => Cliff.new(name: "capture", how: %w[--call-tree --json], what: "lines",
                                  unit: "line in the call paths of a recording", powers: [10, 17]),
      "capture_diff" => Cliff.new(name: "capture", how: "diff", what: "lines",
                                  unit: "line in the difference of two recordings", powers: [10, 17]),
      "growth" => Cliff.new(name: "growth", what: "lines of a growth log", unit: "line of a growth log",
                            powers: [7, 14]),
      "list" => Cliff.new(name: "list", what: "lines", unit: "line in a list of processes", powers: [10, 20]),
      "top" => Cliff.new(name: "top", what: "lines", unit: "line in a frame of heapline top", powers: [10, 20]),
      "threads" => Cliff.new(name: "threads", what: "sleeping threads", unit: "string and its end", powers: [0, 14]),
      "fibers" => Cliff.new(name: "fibers", what: "fibers that take turns", unit: "turn with a string and its end",
                            powers: [0, 14]),
      "stacks" => Cliff.new(name: "stacks", what: "frames of a recorded stack", unit: "string and its end",
                            powers: [3, 12]),
      "classes" => Cliff.new(name: "classes", what: "classes of objects", unit: "object", powers: [3, 15],
                             options: "objects"),
      "objects" => Cliff.new(name: "objects", what: "classes of objects", unit: "class in a report of all",
                             powers: [8, 15], options: "objects"),
      "leaks" => Cliff.new(name: "leaks", what: "records of blocks", unit: "record as JSON", powers: [10, 16],
                           options: "blocks"),
      **%w[histo lines stat diff dominators find report].to_h do |command|
        ["heap_#{command}", Cliff.new(name: "heap", how: command, what: "classes in a dump, each with a line",
                                      unit: "class in `heap #{command}`", powers: [10, 17])]
      end,
      "fork" => Cliff.new(name: "forks", how: "live", what: "lines, 65 threads", unit: "child", powers: [10, 20]),
      "fork_exec" => Cliff.new(name: "forks", how: "exec", what: "lines, 65 threads", unit: "child that executes",
                               powers: [10, 20]),
      "spawn" => Cliff.new(name: "forks", how: "spawn", what: "lines, 65 threads", unit: "spawn", powers: [10, 20])
    }.freeze

    def self.named(name)
      ALL.fetch(name) { raise Broken, "there is no cliff #{name}: #{ALL.keys.join(", ")}" }
    end
  end
end
