# frozen_string_literal: true

module Tasks
  module Matrix
    # Compiles and tests heapline with each Ruby that it supports.
    class Run
      TASKS = %w[test:unit test:integration].freeze

      SYSTEM = Interpreter.new("#{RUBY_VERSION[/\d+\.\d+/]} (system)", "system-#{RUBY_VERSION}")
      OTHERS = [
        DebianRoot.new("3.3", suite: "trixie", packages: %w[ruby3.3 ruby3.3-dev], ruby: "ruby3.3"),
        DebianRoot.new("3.4", suite: "sid", packages: %w[ruby3.4 ruby3.4-dev], ruby: "ruby3.4", extra: "experimental"),
        TarballRuby.new("4.0 (shared)", "ruby-4.0.1"),
        TarballRuby.new("4.0 (static)", "ruby-4.0.1-static")
      ].freeze

      # what: nil for all, "others" for all but the Ruby that runs Rake, or the start of a name: "3.3"
      def initialize(layer, what = nil)
        @layer = layer
        @rubies = what == "others" ? OTHERS : [SYSTEM, *OTHERS].select { |ruby| ruby.name.start_with?(what.to_s) }
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

        TASKS.map { |task| run_task(ruby, task) }
      rescue Broken, SystemCallError => e
        puts e.message
        [Tally.new(layer: "prepare", passed: 0, failed: 1)]
      end

      def run_task(ruby, task)
        ok, output = ruby.ruby("-S", "rake", task)
        tally = Tally.read(task, output) || Tally.new(layer: task, passed: 0, failed: 1)
        tally.failed = 1 if !ok && tally.failed.zero?
        tally
      end
    end
  end
end
