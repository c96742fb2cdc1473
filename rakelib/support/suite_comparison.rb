# frozen_string_literal: true

require "tmpdir"

module Tasks
  # Runs somebody else's test files twice, plain and under heapline, and compares what failed by name.
  #
  # The two runs of a file go side by side, so that both meet the same machine; where tests write beside themselves, as
  # those of gems do, one after the other. Some tests fail by chance: a file whose
  # runs differ is run again, and differs only if it does so each time. A crash under heapline counts at once.
  class SuiteComparison
    ATTEMPTS = 3

    # layer: of the tally; dir: where the files are run; limit: seconds a file
    # command: the program and its arguments, without the file
    # under: Accounted or Recorded, which say how a program is run under heapline
    # together: may two runs of a file go side by side?
    def initialize(layer, dir:, command:, env: {}, limit: 300, under: Accounted.new, together: true)
      @under = under
      @together = together
      @layer = layer
      @dir = dir
      @command = command
      @env = env
      @limit = limit
    end

    # files: Array of [arguments that name the file, how often it is run]. Prints one line a file.
    # Returns a Tally, one count a file.
    def run(files)
      return Tally.new(layer: @layer, passed: 0, failed: 1) unless preloaded?

      results = files.map { |file, times| (1..times).all? { same?(file) } }
      Tally.new(layer: @layer, passed: results.count(true), failed: results.count(false))
    end

    private

    # The dynamic linker only warns about a preload that it cannot load, and then all would be the same.
    def preloaded?
      ok, output = Dir.mktmpdir("heapline-suite") do |dir|
        Shell.capture(*@under.words(dir), RbConfig.ruby, "-e",
                      "200.times { File.read('/proc/self/maps').include?('libheapline') ? exit : sleep(0.05) }; exit 1",
                      env: PlainRuby::ENVIRONMENT.merge(@under.environment))
      end
      puts "#{CORE} is not loaded by #{RbConfig.ruby}: rake compile, then exe/heapline doctor", output unless ok
      ok
    end

    def same?(file)
      difference = heapline = nil
      ATTEMPTS.times do
        plain, heapline = run_both(file)
        difference = difference(plain, heapline)
        puts format("%-44s %-26s %-26s %s", file, plain, heapline, difference || "same")
        $stdout.flush
        return true unless difference
        break if heapline.ending == :crashed && plain.ending == :finished
      end
      # In a form that a log's end repeats (Complaints).
      puts("FAILED #{file}: #{difference}", heapline.output.lines.last(20).map { |line| "FAILED   #{line}" })
      false
    end

    def run_both(file)
      runs = [nil, @under].map { |under| Thread.new { run_once(file, under) }.tap { |run| run.join unless @together } }
      runs.map(&:value)
    end

    def run_once(file, under = nil)
      Dir.mktmpdir("heapline-suite") do |dir|
        Dir.mkdir(tmp = File.join(dir, "tmp"))
        env = { **@env, "TMPDIR" => tmp, **(under&.environment || {}) }
        words = [*env.map { |name, value| "#{name}=#{value}" }, *under&.words(dir), *@command, file]
        # Set by env: the preload is not for timeout.
        output, status = Open3.capture2e(PlainRuby::ENVIRONMENT, "timeout", "--kill-after=10", @limit.to_s, "env",
                                         *words, stdin_data: "", chdir: @dir)
        outcome = SuiteOutcome.read(output.scrub, status.exitstatus)
        under ? under.judged(outcome) : outcome
      end
    end

    def difference(plain, heapline)
      return "#{plain.ending} / #{heapline.ending}" if plain.ending != heapline.ending

      only = (heapline.bad - plain.bad).map { |name| "+ #{name}" }
      only += (plain.bad - heapline.bad).map { |name| "- #{name}" }
      return only.join("; ") unless only.empty?

      "#{plain.tests} / #{heapline.tests} tests" if plain.tests != heapline.tests
    end
  end
end
