# frozen_string_literal: true

module Tasks
  # The tests of two large gems that come with them: oj, a C extension that calls malloc for everything, and
  # ruby_parser, eleven thousand tests of pure Ruby.
  class GemSuites
    Suite = Struct.new(:name, :version, :files, keyword_init: true)

    ALL = [
      Suite.new(name: "oj", version: "3.13.23", files: "test/test_*.rb"),
      Suite.new(name: "ruby_parser", version: "3.21.1", files: "test/test_ruby_{lexer,parser}.rb")
    ].freeze

    # Returns a Tally, one count a test file.
    def run
      tallies = ALL.map { |suite| compare(suite) }
      Tally.new(layer: "gems", passed: tallies.sum(&:passed), failed: tallies.sum(&:failed))
    end

    private

    def compare(suite)
      dir = GemHome.install(suite.name, suite.version)
      command = [RbConfig.ruby, "-Ilib", "-Itest", "-I#{GemHome.extensions(dir) || "lib"}"]
      SuiteComparison.new("gems", dir: dir, command: command, env: { "GEM_PATH" => GemHome.gem_path }, limit: 300,
                                  together: false)
                     .run(Dir.glob(suite.files, base: dir).sort.map { |file| [file, 1] })
    end
  end
end
