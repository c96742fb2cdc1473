# frozen_string_literal: true

require "etc"
require "fileutils"
require "json"

module Tasks
  # The table of docs/checks.md, between its two marks: how often growth checks gave which answer, on each Ruby that was
  # asked. The answers are kept, a line of JSON for each repeat, so that an interrupted run goes on where it was.
  class ChecksPage
    FILE = File.join(ROOT, "docs/checks.md")
    ANSWERS = File.join(ROOT, "tmp/checks/answers.jsonl")
    MARKS = /(?<=<!-- measured: begin -->\n).*(?=<!-- measured: end -->)/m
    KINDS = { "LEAKS" => "leaks", "CLEAN" => "does not leak" }.freeze
    # One process asks about all examples, and says whether each was said to grow, and how long a check took.
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

    VERSION = 'print RUBY_VERSION, (" with YJIT" if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?)'

    # repeats: how often each example is asked about on this Ruby, half of them with busy loops beside it.
    def initialize(repeats, ruby: RbConfig.ruby, file: FILE, answers: ANSWERS)
      @repeats = repeats
      @ruby = ruby
      @file = file
      @answers = answers
    end

    # Ask as often as is missing, and write. Aborts where an answer was wrong.
    def write
      ask_the_rest
      text = tables
      page = File.read(@file, encoding: "UTF-8")
      abort "#{@file} has lost its marks" unless page.match?(MARKS)
      File.write(@file, page.sub(MARKS) { text })
      puts text
      abort "some answers were wrong: #{@answers}" if runs.any? { |run| wrong(run).any? }
    end

    private

    # Array of Hash, as PROGRAM writes them, with "ruby" and "busy": how many loops ran beside it.
    def runs
      return [] unless File.exist?(@answers)

      File.readlines(@answers).map { |line| JSON.parse(line) }
    end

    def ask_the_rest
      FileUtils.mkdir_p(File.dirname(@answers))
      version = Shell.capture(@ruby, "-e", VERSION, env: PlainRuby::ENVIRONMENT).last
      runs.count { |run| run["ruby"] == version }.upto(@repeats - 1) do |number|
        busy = number.odd? ? Etc.nprocessors : 0
        run = beside(busy) { ask }.merge("ruby" => version, "busy" => busy)
        File.write(@answers, "#{JSON.generate(run)}\n", mode: "a")
      end
    end

    def ask
      ok, output = Shell.capture(@ruby, "exe/heapline", "--quiet", @ruby, "-Ilib", "-Itest", "-e", PROGRAM,
                                 env: PlainRuby::ENVIRONMENT, dir: ROOT)
      abort "the examples ended badly:\n#{output}" unless ok
      JSON.parse(output.lines.last)
    end

    def beside(busy)
      loops = Array.new(busy) { Process.spawn(@ruby, "--disable=gems", "-e", "loop {}") }
      yield
    ensure
      loops&.each do |pid|
        Process.kill(:KILL, pid)
        Process.wait(pid)
      end
    end

    # Names of the examples that a run was wrong about.
    def wrong(run)
      run["LEAKS"]["grown"].reject { |_, grown| grown }.keys + run["CLEAN"]["grown"].select { |_, grown| grown }.keys
    end

    def tables
      rubies = runs.group_by { |run| run["ruby"] }.sort.to_h
      rows = KINDS.flat_map do |kind, expected|
        rubies.values.first.first[kind]["grown"].keys.sort.map do |name|
          cells([name, expected, *rubies.values.map { |asked| said(asked, kind, name) }])
        end
      end
      head = ["the block", "it", *rubies.keys.map { |ruby| "said to grow, Ruby #{ruby}" }]
      table = [cells(head), cells(head.map { "---" }), *rows].join
      "#{rubies.map { |ruby, asked| summary(ruby, asked) }.join}\n#{table}"
    end

    def cells(texts)
      "| #{texts.join(" | ")} |\n"
    end

    def said(asked, kind, name)
      "#{asked.count { |run| run[kind]["grown"][name] }} of #{asked.size}"
    end

    def summary(ruby, asked)
      busy = asked.count { |run| run["busy"].to_i.positive? }
      "- Ruby #{ruby}: #{asked.size} repeats#{", #{busy} of them with busy loops beside" if busy.positive?}, " \
        "#{asked.sum { |run| wrong(run).size }} wrong answers. A check took #{median(asked, "CLEAN")} (median) where " \
        "nothing leaks, #{median(asked, "LEAKS")} where something does.\n"
    end

    def median(asked, kind)
      "#{(asked.map { |run| run[kind]["seconds"] }.sort[asked.size / 2] * 1000).round} ms"
    end
  end
end
