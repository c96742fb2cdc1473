# frozen_string_literal: true

module Tasks
  module Matrix
    # Compiles and tests heapline with each Ruby that it supports.
    class Run
      WHOLE = %w[test:unit test:integration].freeze
      JITS = { "4.0 (shared)" => %w[test:planted[yjit]], "4.1" => %w[test:planted[yjit] test:planted[zjit]] }.freeze
      # Of these, by the start of the name, CI runs the tests that differ by Ruby; the oldest and the newest run all.
      # 3.4 lies between them, and 4.1 is not released; 3.2 and 3.3, and the static 4.0, which is the code of the shared
      # one, run what reads structs. `full` runs all on all.
      CHOSEN = { "3.2" => %w[test:layout], "3.3" => %w[test:layout], "3.4" => %w[test:vm],
                 "4.0 (static)" => %w[test:layout], "4.1" => %w[test:vm], "aarch64" => %w[test:layout] }.freeze

      SYSTEM = Interpreter.new("#{RUBY_VERSION[/\d+\.\d+/]} (system)", "system-#{RUBY_VERSION}")
      OTHERS = [
        TarballRuby.new("3.2", "ruby-3.2.11"),
        DebianRoot.new("3.3", suite: "trixie", packages: %w[ruby3.3 ruby3.3-dev], ruby: "ruby3.3"),
        DebianRoot.new("3.4", suite: "sid", packages: %w[ruby3.4 ruby3.4-dev], ruby: "ruby3.4", extra: "experimental"),
        TarballRuby.new("4.0 (shared)", "ruby-4.0.1"),
        TarballRuby.new("4.0 (static)", "ruby-4.0.1-static"),
        TarballRuby.new("4.1 (dev)", "ruby-4.1-dev")
      ].freeze
      # Only where it is asked for by its name: it takes hours.
      SLOW = [Aarch64Machine.new].freeze

      # what: nil for all, "others" for all but the Ruby that runs Rake, or the start of a name: "3.3". full: all tests?
      def initialize(layer, what = nil, full: false)
        @layer = layer
        @full = full
        all = [SYSTEM, *OTHERS, *(SLOW if what)]
        @rubies = what == "others" ? OTHERS : all.select { |ruby| ruby.name.start_with?(what.to_s) }
      end

      # Prints a table. Returns a Tally over all Rubies and their tests.
      def run
        rows = @rubies.map { |ruby| [ruby.name, *test(ruby)] }
        puts("", rows.map { |name, *results| format("Ruby %-14s %s", name, results.join("   ")) })
        tallies = rows.flatten.grep(Tally)
        Tally.new(layer: @layer, passed: tallies.sum(&:passed), failed: tallies.sum(&:failed))
      end

      private

      # Array of Tally, or of the reason for which there are none.
      def test(ruby)
        puts "", "-- Ruby #{ruby.name}"
        reason = ruby.unavailable
        return ["skipped: #{reason}"] if reason

        ruby.prepare
        compiled, = ruby.ruby("-S", "rake", "compile")
        return [Tally.new(layer: "compile", passed: 0, failed: 1)] unless compiled

        tasks(ruby.name).map { |task| run_task(ruby, task) }
      rescue Broken, SystemCallError => e
        puts e.message
        [Tally.new(layer: "prepare", passed: 0, failed: 1)]
      end

      def tasks(name)
        chosen = of(CHOSEN, name) unless @full
        [*(chosen || WHOLE), *of(JITS, name)]
      end

      def of(table, name)
        table.find { |start, _| name.start_with?(start) }&.last
      end

      def run_task(ruby, task)
        ok, output = ruby.ruby("-S", "rake", task)
        name = Layers::Layer.new(task: task).name
        tally = Tally.read(name, output) || Tally.new(layer: name, passed: 0, failed: 1)
        tally.failed = 1 if !ok && tally.failed.zero?
        tally
      end
    end
  end
end
