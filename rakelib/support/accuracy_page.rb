# frozen_string_literal: true

module Tasks
  # The tables of docs/accuracy.md, between its two marks.
  class AccuracyPage
    FILE = File.join(ROOT, "docs/accuracy.md")
    MARKS = /(?<=<!-- measured: begin -->\n).*(?=<!-- measured: end -->)/m
    # What is measured: a heading, and the options of the simulator.
    RUNS = {
      "30 lines, one every 10 s to 10 min" => { lines: 30 },
      "30 lines, one an hour" => { lines: 30, every: 3600 },
      "20 lines, one every 10 s to 10 min" => { lines: 20 },
      "300 lines, one every 10 s to 10 min" => { lines: 300, processes: 60 },
      "10,000 lines, one a minute (a week)" => { lines: 10_000, every: 60, processes: 4 }
    }.freeze
    # The same while GCs become rarer: a heading, and the kinds that are planted.
    RARER = {
      "lines that make garbage" => %i[kept_of_garbage waiting_garbage],
      "the kinds above" => nil
    }.freeze
    # Others than those that the thresholds were set with.
    SEEDS = (101..104)
    PROCESSES = 100
    VERDICTS = %i[leak cache bloat churn steady unsure].freeze

    # Measure and write; the first run's kinds are shown in full.
    def write
      $LOAD_PATH.unshift(File.join(ROOT, "lib"), File.join(ROOT, "test"))
      require "support/growth_accuracy"
      results = RUNS.transform_values { |options| measure(options) }
      text = "#{summary(results)}\n#{kinds(results.values.first)}\n#{rates(results.values.first)}\n#{rarer}"
      page = File.read(FILE, encoding: "UTF-8")
      abort "#{FILE} has lost its marks" unless page.match?(MARKS)
      File.write(FILE, page.sub(MARKS) { text })
      puts text
    end

    private

    def measure(options)
      GrowthAccuracy.measure(seeds: SEEDS, processes: PROCESSES, **options)
    end

    # In logs of 30 and 300 lines.
    def rarer
      runs = RARER.to_a.product([30, 300])
      results = runs.to_h do |(name, kinds), lines|
        ["#{name}, #{lines} lines", measure({ lines: lines, rarer: true, kinds: kinds }.compact)]
      end
      summary(results, "while GCs become rarer")
    end

    def summary(results, heading = "logs")
      rows = results.map do |name, result|
        [name, result.answers.count(&:leak?), result.answers.count { |answer| !answer.leak? }, percent(result.recall),
         percent(result.false_share), percent(result.precision)]
      end
      table([heading, "leaks", "other sites", "leaks named leak", "others named leak", "leaks among those named leak"],
            rows)
    end

    def kinds(result)
      rows = result.by_kind.map do |kind, found|
        ["`#{kind}`", GrowthSimulator::KINDS.fetch(kind), *VERDICTS.map { |verdict| found[verdict] || "" }]
      end
      table(["planted", "expected", *VERDICTS], rows)
    end

    def rates(result)
      table(["leak", "named leak"], result.by_rate.map { |name, recall| [name, percent(recall)] })
    end

    def percent(share)
      format("%.1f %%", share * 100)
    end

    def table(heading, rows)
      [heading, heading.map { "---" }, *rows].map { |row| "| #{row.join(" | ")} |\n" }.join
    end
  end
end
