# frozen_string_literal: true

module Tasks
  # All layers of tests and gates, each in a process of its own with a time limit, added up to one line.
  class Layers
    MINUTE = 60

    # task: name of the Rake task, also the layer's name in its tally; limit: seconds
    Layer = Struct.new(:task, :limit, keyword_init: true) do
      def name
        task.delete_suffix("]").tr("[", ":")
      end
    end

    def self.layer(task, minutes)
      Layer.new(task: task, limit: minutes * MINUTE)
    end

    ALL = [
      layer("compile", 8), layer("lint", 10), layer("symbols", 1), layer("docs", 1), layer("test:gates", 5),
      layer("test:c", 5), layer("test:sanitize", 10), layer("test:unit", 8), layer("test:integration", 20),
      layer("test:browser", 5),
      layer("test:package", 10), layer("test:bench", 5), layer("fuzz", 6), layer("cruby[subset]", 9),
      layer("cruby[record]", 4), layer("gems", 6), layer("leaks:compare[quick]", 5), layer("leaks:gems[quick]", 8),
      layer("rails", 6), layer("matrix[others]", 40)
    ].freeze

    # HEAPLINE_NO_MATRIX=1 in `env` leaves out the other Rubies.
    def self.chosen(env = ENV)
      env["HEAPLINE_NO_MATRIX"] == "1" ? ALL.reject { |layer| layer.task.start_with?("matrix") } : ALL
    end

    def initialize(layers = Layers.chosen, rake: [RbConfig.ruby, "-S", "rake"])
      @layers = layers
      @rake = rake
    end

    # Runs all of them, whatever fails. Prints what failed once more, a table and, as the last line, "N passed,
    # N failed". Returns whether something passed and nothing failed.
    def run
      @complaints = {}
      tallies = @layers.map { |layer| run_one(layer) }
      @complaints.each { |name, lines| puts "", "-- failed: #{name}", *lines }
      passed = tallies.sum(&:passed)
      failed = tallies.sum(&:failed)
      puts("", tallies.map { |tally| format("%-18s %5d passed %5d failed", tally.layer, tally.passed, tally.failed) })
      puts "#{passed} passed, #{failed} failed"
      failed.zero? && passed.positive?
    end

    private

    def run_one(layer)
      puts "", "== #{layer.task}"
      ok, output = Shell.stream("timeout", "--kill-after=20", layer.limit.to_s, *@rake, layer.task)
      tally = Tally.read(layer.name, output) || Tally.new(layer: layer.name, passed: ok ? 1 : 0, failed: 0)
      tally.failed = 1 if !ok && tally.failed.zero?
      @complaints[layer.name] = Complaints.of(output) if tally.failed.positive?
      tally
    end
  end
end
