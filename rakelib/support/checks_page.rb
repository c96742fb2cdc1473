# frozen_string_literal: true

require "etc"
require "json"

module Tasks
  # The table of docs/checks.md, between its two marks: how often growth checks gave which answer.
  class ChecksPage
    FILE = File.join(ROOT, "docs/checks.md")
    MARKS = /(?<=<!-- measured: begin -->\n).*(?=<!-- measured: end -->)/m
    KINDS = { "LEAKS" => "leaks", "CLEAN" => "does not leak" }.freeze
    # One process asks about all examples, and says how often each was said to grow, and how long the check took.
    PROGRAM = <<~RUBY
      require "json"
      require "support/growth_examples"
      clock = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
      answers = %w[LEAKS CLEAN].to_h do |kind|
        began = clock.call
        found = GrowthExamples.answers(GrowthExamples.const_get(kind))
        [kind, { grown: found, seconds: (clock.call - began) / found.size }]
      end
      puts JSON.generate(answers)
    RUBY

    # repeats: how often each example is asked about, half of them with busy loops beside it.
    def initialize(repeats, ruby: RbConfig.ruby)
      @repeats = repeats
      @ruby = ruby
    end

    # Ask and write. Aborts where an answer was wrong.
    def write
      runs = Array.new(@repeats) { |number| number.odd? ? loaded { ask } : ask }
      text = table(runs)
      page = File.read(FILE, encoding: "UTF-8")
      abort "#{FILE} has lost its marks" unless page.match?(MARKS)
      File.write(FILE, page.sub(MARKS) { text })
      puts text
      abort "some answers were wrong" unless wrong(runs).empty?
    end

    private

    def ask
      ok, output = Shell.capture(@ruby, "exe/heapline", "--quiet", @ruby, "-Ilib", "-Itest", "-e", PROGRAM,
                                 env: PlainRuby::ENVIRONMENT, dir: ROOT)
      abort "the examples ended badly:\n#{output}" unless ok
      JSON.parse(output.lines.last)
    end

    def loaded
      loops = Array.new(Etc.nprocessors) { Process.spawn(@ruby, "--disable=gems", "-e", "loop {}") }
      yield
    ensure
      loops&.each do |pid|
        Process.kill(:KILL, pid)
        Process.wait(pid)
      end
    end

    def wrong(runs)
      runs.flat_map do |run|
        [*run["LEAKS"]["grown"].reject { |_, grown| grown }, *run["CLEAN"]["grown"].select { |_, grown| grown }]
      end
    end

    def table(runs)
      rows = KINDS.flat_map do |kind, expected|
        names = runs.first[kind]["grown"].keys.sort
        names.map { |name| row(name, expected, runs.map { |run| run[kind]["grown"][name] }) }
      end
      "#{summary(runs)}\n\n| the block | it | said to grow |\n|---|---|---|\n#{rows.join}"
    end

    def row(name, expected, answers)
      "| #{name} | #{expected} | #{answers.count(true)} of #{answers.size} |\n"
    end

    def summary(runs)
      seconds = KINDS.keys.to_h { |kind| [kind, runs.map { |run| run[kind]["seconds"] }.sort[runs.size / 2]] }
      "Ruby #{RUBY_VERSION}, #{@repeats} repeats, #{@repeats / 2} of them with #{Etc.nprocessors} busy loops: " \
        "#{wrong(runs).size} wrong answers. A check took #{milliseconds(seconds["CLEAN"])} (median) where nothing " \
        "leaks, #{milliseconds(seconds["LEAKS"])} where something does."
    end

    def milliseconds(seconds)
      "#{(seconds * 1000).round} ms"
    end
  end
end
