# frozen_string_literal: true

module Tasks
  # How many checks of one layer passed and failed. A layer prints its tally as one line, which the run of all layers
  # (`rake ci`) reads back and adds up.
  Tally = Struct.new(:layer, :passed, :failed, keyword_init: true) do
    def self.read(layer, output)
      found = output.scan(/^tally (\S+): (\d+) passed, (\d+) failed$/).reverse.find { |name, _, _| name == layer }
      found && new(layer: layer, passed: found[1].to_i, failed: found[2].to_i)
    end

    # A layer in which nothing ran has not passed.
    def ok?
      failed.zero? && passed.positive?
    end

    def to_s
      "tally #{layer}: #{passed} passed, #{failed} failed"
    end

    # Print it and end the task with a failure if it is one.
    def report
      puts self
      return if ok?

      abort failed.zero? ? "#{layer}: nothing ran" : "#{layer}: failed"
    end
  end
end
