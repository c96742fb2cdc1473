# frozen_string_literal: true

require "fileutils"

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
      dir = install(suite)
      command = [RbConfig.ruby, "-Ilib", "-Itest", "-I#{extensions(dir)}"]
      SuiteComparison.new("gems", dir: dir, command: command, env: { "GEM_PATH" => gem_path }, limit: 120)
                     .run(Dir.glob(suite.files, base: dir).sort.map { |file| [file, 1] })
    end

    def home
      File.join(CACHE, "gem-suites", RbConfig::CONFIG["ruby_version"])
    end

    def gem_path
      [home, *PlainRuby.gem_path].join(":")
    end

    # Folder of the unpacked gem.
    def install(suite)
      dir = File.join(home, "gems", "#{suite.name}-#{suite.version}")
      return dir if File.exist?(File.join(home, "specifications", "#{suite.name}-#{suite.version}.gemspec"))

      ok, output = Shell.capture(RbConfig.ruby, "-S", "gem", "install", "--no-document", "--install-dir", home,
                                 suite.name, "-v", suite.version, env: PlainRuby::ENVIRONMENT)
      abort "gems: could not install #{suite.name} #{suite.version}:\n#{output}" unless ok
      dir
    end

    def extensions(dir)
      Dir.glob(File.join(home, "extensions/*/*", File.basename(dir))).first || "lib"
    end
  end
end
