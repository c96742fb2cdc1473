# frozen_string_literal: true

module Tasks
  # Rubies that nobody has published.
  module Builds
    SOURCES = { "3.1" => DebianSource.new("ruby3.1", "bookworm"),
                "3.4" => DebianSource.new("ruby3.4", "experimental") }.freeze
    PATCHES = File.join(ROOT, "test/mutants")
    KINDS = { "lto" => { flags: ["optflags=-O2 -flto=auto", "debugflags=", "LDFLAGS=-flto=auto"] },
              "clang" => { flags: %w[CC=clang optflags=-O2 debugflags=] },
              "stripped" => { finish: %w[strip --strip-all] }, "modular" => { collector: "default" } }.freeze

    # Builds those whose name begins so (nil: all), runs programs with each whose every line and object is known, and
    # says what heapline made of them.
    class Run
      TEST = "test/builds/build_test.rb"
      VERDICT = /verdict (lines|objects): (.+)$/

      def initialize(layer, name = nil)
        @layer = layer
        @builds = all.select { |build| build.name.start_with?(name.to_s) }
      end

      # Prints a table. Returns a Tally: two checks a build.
      def run
        rows = @builds.map { |build| [build.name, *verdicts(build)] }
        puts("", rows.map { |row| row.join(" | ") })
        passed = rows.sum { |_, *verdicts| verdicts.count { |verdict| verdict.start_with?("exact", "refused") } }
        Tally.new(layer: @layer, passed: passed, failed: (2 * rows.size) - passed)
      end

      private

      def all
        SOURCES.flat_map do |version, source|
          base = Build.new(source, "#{version}-base")
          [base, *(kinds(source, version, base) if version == SOURCES.keys.last), *mutants(source, version, base)]
        end
      end

      def kinds(source, version, base)
        KINDS.map { |kind, options| Build.new(source, "#{version}-#{kind}", base: base, **options) }
      end

      def mutants(source, version, base)
        Dir[File.join(PATCHES, "#{version}-*.patch")].map do |patch|
          Build.new(source, File.basename(patch, ".patch"), patch: patch, base: base)
        end
      end

      # Of lines and of objects.
      def verdicts(build)
        return ["not built: #{build.unavailable}"] * 2 if build.unavailable

        build.make
        _, output = Shell.stream(RbConfig.ruby, "-Ilib", "-Itest", TEST,
                                 env: PlainRuby::ENVIRONMENT.merge(build.environment))
        found = output.scan(VERDICT).to_h
        %w[lines objects].map { |what| found.fetch(what, "nothing was said") }
      rescue Matrix::Broken => e
        puts e.message
        ["not built"] * 2
      end
    end
  end
end
