# frozen_string_literal: true

require "fileutils"

module Tasks
  # Runs libFuzzer targets under the sanitizers. test/fuzz/NAME_fuzzer.c (or .cpp) names in its includes the
  # sources of ext/ that it is linked with. test/fuzz/seeds.rb writes what it starts from; what it found
  # interesting stays in the cache. test/fuzz/commands_test.rb gives damaged files to every command that reads one.
  class Fuzzing
    # Damaged files of each kind, for each second that a target runs.
    RUNS_A_SECOND = 1
    # A target that takes longer for one input has a loop without an end.
    SECONDS_AN_INPUT = 20
    INCLUDE = %r{^#include "../../(ext/\w+/\w+)\.h(pp)?"}

    # seconds: how long each target runs
    def initialize(seconds)
      @seconds = seconds
    end

    # Returns a Tally, one count a target and a kind of file.
    def run
      results = Dir.glob("test/fuzz/*_fuzzer.{c,cpp}", base: ROOT).sort.map { |source| sound?(source) }
      commands = MinitestRun.new("fuzz", ["test/fuzz/commands_test.rb"],
                                 environment: { "HEAPLINE_FUZZ_RUNS" => (@seconds * RUNS_A_SECOND).to_s }).run
      Tally.new(layer: "fuzz", passed: results.count(true) + commands.passed,
                failed: results.count(false) + commands.failed)
    end

    private

    def sound?(source)
      name = File.basename(source).sub(/_fuzzer\.c(pp)?\z/, "")
      program = File.join(ROOT, "tmp/fuzz", name)
      corpus = File.join(CACHE, "fuzz", name)
      FileUtils.mkdir_p([File.dirname(program), corpus])
      ok, output = build(source, program)
      ok, output = seed(name, corpus) if ok
      ok, output = fuzz(program, corpus) if ok
      puts "#{ok ? "ok" : "FAILED"} #{source}", output.lines.last(ok ? 1 : 60)
      ok
    end

    def build(source, program)
      parts = File.read(File.join(ROOT, source)).scan(INCLUDE).map { |part, cxx| "#{part}.c#{cxx}" }
      Shell.capture(*compiler(source), "-g", "-O1", "-fsanitize=fuzzer,address,undefined",
                    "-fno-sanitize-recover=all", "-o", program, source,
                    *parts.select { |part| File.exist?(File.join(ROOT, part)) }, "-lm", *libraries(source))
    end

    def compiler(source)
      return [CFlags.clang, *CFlags::BASE, "-Iext/heapline_core"] if source.end_with?(".c")

      [CFlags.cxx(CFlags.clang), *CFlags::CXX, "-Iext/heapline_core"]
    end

    def libraries(source)
      source.end_with?(".c") ? [] : [*CFlags::HEAP_LIBRARIES, "-lelf"]
    end

    def seed(name, corpus)
      Shell.capture(RbConfig.ruby, "test/fuzz/seeds.rb", name, corpus, env: PlainRuby::ENVIRONMENT)
    end

    # What breaks the target is kept in tmp/fuzz and named in the output.
    def fuzz(program, corpus)
      Shell.capture(program, "-max_total_time=#{@seconds}", "-timeout=#{SECONDS_AN_INPUT}",
                    "-artifact_prefix=#{File.dirname(program)}/", "-print_final_stats=0", corpus)
    end
  end
end
