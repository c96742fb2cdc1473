# frozen_string_literal: true

module Tasks
  # How a program of somebody else's is run under heapline: accounted.
  class Accounted
    # Variables.
    attr_reader :environment

    # options: HEAPLINE
    def initialize(options = "quiet")
      @environment = { "LD_PRELOAD" => CORE, "HEAPLINE" => options }.freeze
    end

    # What stands before the command; dir: for files, empty and of this run alone.
    def words(_dir)
      []
    end

    # The SuiteOutcome of a run.
    def judged(outcome)
      outcome
    end
  end
end
