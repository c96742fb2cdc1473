# frozen_string_literal: true

require "stringio"
require "heapline/growth_reader"
require "support/growth_simulator"

# How often the verdicts of `heapline growth` are what the simulator planted.
class GrowthAccuracy
  # One planted site and what was found.
  Answer = Struct.new(:planted, :verdict, keyword_init: true) do
    def leak?
      planted.verdict == :leak
    end

    def named_leak?
      verdict == :leak
    end
  end

  # The answers for logs of `processes` processes for each seed. options: see GrowthSimulator.
  def self.measure(seeds:, **options)
    new(seeds.flat_map { |seed| answers(GrowthSimulator.new(seed: seed, **options)) })
  end

  def self.answers(simulator)
    log = simulator.write(StringIO.new).tap(&:rewind)
    found = Heapline::GrowthReader.new(["-"], input: log).read.series.to_h { |one| [one.location, one.verdict] }
    simulator.planted.map { |planted| Answer.new(planted: planted, verdict: found.fetch(planted.location)) }
  end
  private_class_method :answers

  attr_reader :answers

  def initialize(answers)
    @answers = answers
  end

  # Of the planted leaks, those named leak.
  def recall(answers = @answers)
    share(answers.select(&:leak?), &:named_leak?)
  end

  # Of the sites that do not leak, those named leak.
  def false_share
    share(answers.reject(&:leak?), &:named_leak?)
  end

  # Of those named leak, the planted leaks.
  def precision
    share(answers.select(&:named_leak?), &:leak?)
  end

  # Hash of kind => Hash of verdict => count.
  def by_kind
    answers.group_by { |answer| answer.planted.kind }
           .transform_values { |members| members.map(&:verdict).tally }
  end

  # Hash of "1 to 10 kB/s" and so on => recall.
  def by_rate
    leaks = answers.select(&:leak?).group_by { |answer| Math.log10(answer.planted.rate).floor }
    names = { 3 => "1 to 10 kB/s", 4 => "10 to 100 kB/s", 5 => "100 kB/s to 1 MB/s" }
    leaks.sort.to_h { |decade, members| [names.fetch(decade), recall(members)] }
  end

  private

  def share(answers, &)
    answers.empty? ? 0.0 : answers.count(&).fdiv(answers.size)
  end
end
