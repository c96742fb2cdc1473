# frozen_string_literal: true

module Tasks
  # How a program of somebody else's is run under heapline: started without it, and attached to and detached from at
  # random moments, and so are all Ruby programs that it starts.
  class Attached
    LOOP = File.join(__dir__, "attached/loop.rb")
    # What the loop says at its end.
    SAID = /^attached ([1-9]\d*) times/

    # See Accounted.
    def environment
      {}
    end

    def words(dir)
      ["env", "HEAPLINE_DIR=#{dir}", "HEAPLINE=quiet", RbConfig.ruby, "-I", File.join(ROOT, "lib"), LOOP]
    end

    # Where nothing was attached to, nothing was shown.
    def judged(outcome)
      outcome.ending = :unattached if outcome.ending == :finished && !outcome.output.match?(SAID)
      outcome
    end
  end
end
