# frozen_string_literal: true

require "fileutils"

module Tasks
  # Runs libFuzzer targets: test/fuzz/NAME_fuzzer.c is linked with ext/heapline/NAME.c, under the sanitizers.
  # test/fuzz/seeds.rb writes what they start from; what they found interesting stays in the cache.
  class Fuzzing
    # seconds: how long each target runs
    def initialize(seconds)
      @seconds = seconds
    end

    # Returns a Tally, one count a target.
    def run
      results = Dir.glob("test/fuzz/*_fuzzer.c", base: ROOT).sort.map { |source| sound?(source) }
      Tally.new(layer: "fuzz", passed: results.count(true), failed: results.count(false))
    end

    private

    def sound?(source)
      name = File.basename(source, "_fuzzer.c")
      program = File.join(ROOT, "tmp/fuzz", name)
      corpus = File.join(CACHE, "fuzz", name)
      FileUtils.mkdir_p([File.dirname(program), corpus])
      ok, output = build(name, source, program)
      ok, output = seed(corpus) if ok
      ok, output = fuzz(program, corpus) if ok
      puts "#{ok ? "ok" : "FAILED"} #{source}", output.lines.last(ok ? 1 : 60)
      ok
    end

    def build(name, source, program)
      Shell.capture(CFlags.clang, *CFlags::BASE, "-g", "-O1", "-fsanitize=fuzzer,address,undefined",
                    "-fno-sanitize-recover=all", "-Iext/heapline_core", "-o", program, source, "ext/heapline/#{name}.c")
    end

    def seed(corpus)
      Shell.capture(RbConfig.ruby, "test/fuzz/seeds.rb", corpus, env: PlainRuby::ENVIRONMENT)
    end

    # What breaks the target is kept in tmp/fuzz and named in the output.
    def fuzz(program, corpus)
      Shell.capture(program, "-max_total_time=#{@seconds}", "-artifact_prefix=#{File.dirname(program)}/",
                    "-print_final_stats=0", corpus)
    end
  end
end
