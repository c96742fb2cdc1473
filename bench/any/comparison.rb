# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require "tmpdir"
require_relative "../harness/environment"
require_relative "../harness/statistics"

module Bench
  # Programs that are not Ruby, under heapline and under the tools that people use for them.
  module Any
    Broken = Class.new(StandardError)

    ROOT = File.expand_path("../..", __dir__)
    HEAPLINE = [RbConfig.ruby, File.join(ROOT, "exe/heapline")].freeze
    # Source => its compiler, and rounds that take some seconds.
    PROGRAMS = { "trees.c" => ["cc", 120], "words.cpp" => ["c++ -std=c++17", 60] }.freeze
    # Each with all its work: the processes beside the program, and what it does at the end. OUT: a new file.
    TOOLS = {
      "plain" => [],
      "heapline" => [*HEAPLINE, "--any", "--quiet"],
      "heapline record" => [*HEAPLINE, "record", "--any", "-o", "OUT"],
      "heaptrack" => ["heaptrack", "-o", "OUT"],
      "massif" => ["valgrind", "--tool=massif", "--massif-out-file=OUT"],
      "heapline leaks" => [*HEAPLINE, "leaks", "--any", "-o", "OUT"],
      "memcheck" => ["valgrind", "--leak-check=full", "--log-file=OUT"]
    }.freeze

    # Runs each program plain and under each tool in turn, and compares by the medians of what each took.
    class Comparison
      # Seconds; seconds of a processor, of all processes; kB at most, of the program.
      Run = Struct.new(:wall, :cpu, :rss_kb, :result, keyword_init: true)

      # scale: of the programs' rounds (Float).
      def initialize(rounds:, scale:)
        @rounds = rounds
        @scale = scale
      end

      # A table of ratios to plain, a line a tool, for each program.
      def report(io)
        Dir.mktmpdir("heapline-bench") do |directory|
          @directory = directory
          PROGRAMS.each { |source, (compiler, turns)| table(io, source, [compiled(source, compiler), turns]) }
        end
        absent = TOOLS.keys - tools.keys
        io.puts "not installed: #{absent.join(", ")}" unless absent.empty?
      end

      private

      def tools
        @tools ||= TOOLS.select { |_, (command)| command.nil? || system("command -v #{command} >/dev/null") }
      end

      def compiled(source, compiler)
        program = path(File.basename(source, ".*"))
        made = system(*compiler.split, "-O2", "-g", "-o", program, File.join(__dir__, source))
        made ? program : raise(Broken, "#{source} cannot be compiled")
      end

      def table(io, source, program)
        runs = measure(*program)
        plain = runs.fetch("plain")
        io.puts format("%-18s %9s %9s %9s   of plain: %.2f s, %d MB", source, "time", "CPU", "RSS",
                       median(plain, :wall), median(plain, :rss_kb) / 1000)
        runs.except("plain").each do |tool, of_tool|
          ratios = %i[wall cpu rss_kb].map { |figure| median(of_tool, figure) / median(plain, figure) }
          io.puts format("  %-16s %9.2f %9.2f %9.2f", tool, *ratios)
        end
      end

      def median(runs, figure)
        Statistics.median(runs.map(&figure))
      end

      # Name of the tool => Array of Run.
      def measure(program, turns)
        words = [program, [(turns * @scale).round, 1].max.to_s]
        rounds = Array.new(@rounds) { tools.transform_values { |prefix| run(prefix + words) } }
        results = rounds.flat_map(&:values).map(&:result).uniq
        raise Broken, "#{program} came to different results: #{results.join(", ")}" if results.size > 1

        tools.keys.to_h { |name| [name, rounds.map { |round| round.fetch(name) }] }
      end

      def run(words)
        before = children_cpu
        start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        status = ended(words.map { |word| word.sub("OUT", path("out")) })
        wall = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
        raise Broken, "#{words.join(" ")}: #{status}\n#{File.read(path("log"))}" unless status.success?

        result, rss = File.read(path("result")).split
        Run.new(wall: wall, cpu: children_cpu - before, rss_kb: Float(rss), result: result)
      ensure
        FileUtils.rm_f(Dir[path("out*"), path("result")])
      end

      def ended(words)
        environment = Environment.clean.merge("BENCH_RESULT" => path("result"), "HEAPLINE_DIR" => path("flights"))
        pid = Process.spawn(environment, *words, out: path("log"), err: %i[child out], chdir: @directory)
        Process.wait2(pid).last
      end

      def children_cpu
        times = Process.times
        times.cutime + times.cstime
      end

      def path(name)
        File.join(@directory, name)
      end
    end
  end
end
