# frozen_string_literal: true

module Tasks
  # How a program of somebody else's is run under heapline: recorded from its start.
  class Recorded
    EXECUTABLE = File.join(ROOT, "exe/heapline")
    # What is said of the capture when the program has ended.
    SAID = /^heapline: recorded [1-9]/

    # options: of `heapline record`
    def initialize(*options)
      @options = options.freeze
    end

    # See Accounted.
    def environment
      {}
    end

    # The flight files lie there too: what was killed leaves its own to the user.
    def words(dir)
      ["env", "HEAPLINE_DIR=#{dir}", RbConfig.ruby, EXECUTABLE, "record", *@options,
       "-o", File.join(dir, "%p.hlc"), "--"]
    end

    # Where nothing was recorded, nothing was shown.
    def judged(outcome)
      outcome.ending = :unrecorded if outcome.ending == :finished && !outcome.output.match?(SAID)
      outcome
    end
  end
end
