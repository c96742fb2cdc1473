# frozen_string_literal: true

module Tasks
  # A check of the sources. A gate is given the root of a checkout, so that its own test can give it a bad one.
  class Gate
    def initialize(root = ROOT)
      @root = root
    end

    # For the reader of the output: "gcc", "rubocop" …
    def name
      self.class.name.split("::").last.gsub(/(?<=[a-z])(?=[A-Z])/, "-").downcase
    end

    # Array of Strings, one for each thing that is wrong; empty: the gate is passed.
    def problems
      return ["nothing to check: no file matches #{patterns.join(" ")}"] if files.empty?

      check
    end

    private

    # Paths relative to the root. tmp/ holds what others wrote.
    def files
      @files ||= Dir.glob(patterns, base: @root).sort.reject { |path| path.start_with?("tmp/") }
    end

    # Run a program over the files at once; what it printed is the problem if it fails.
    def complaints(*command, env: {})
      ok, output = Shell.capture(*command, env: env, dir: @root)
      ok ? [] : ["#{command.first(3).join(" ")} …\n#{output}"]
    end

    # The same for a program of a gem, in the version that our Gemfile names.
    def in_bundle(*command)
      complaints("bundle", "exec", *command, env: { "BUNDLE_GEMFILE" => File.join(ROOT, "Gemfile") })
    end
  end

  # Run gates and print what each found; ends the task with a failure if any found something.
  def self.run_gates(layer, gates)
    failed = gates.count do |gate|
      problems = gate.problems
      puts "#{problems.empty? ? "ok" : "FAILED"} #{gate.name}", problems
      problems.any?
    end
    Tally.new(layer: layer, passed: gates.size - failed, failed: failed).report
  end
end
