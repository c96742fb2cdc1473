# frozen_string_literal: true

module Tasks
  # Runs test files with minitest in one process of their own.
  class MinitestRun
    # Ruby 4.0 brings minitest 6; the tests are written for 5.
    LOADER = 'gem "minitest", "~> 5.15"; ARGV.each { |file| require file }; ARGV.clear'
    SUMMARY = /^(\d+) runs, \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips/

    # files: Array of paths; ruby: the interpreter that runs them; libraries: what the files may require by name;
    # environment: variables beside those of PlainRuby
    def initialize(layer, files, ruby: RbConfig.ruby, libraries: %w[lib test], environment: {})
      @layer = layer
      @files = files.map { |file| File.expand_path(file, ROOT) }
      @ruby = ruby
      @libraries = libraries
      @environment = PlainRuby::ENVIRONMENT.merge(environment)
    end

    # Returns a Tally. Skipped tests are in neither number; minitest prints why they were skipped.
    def run
      return Tally.new(layer: @layer, passed: 0, failed: 0) if @files.empty?

      ok, output = Shell.stream(@ruby, *@libraries.map { |dir| "-I#{dir}" }, "-e", LOADER, *@files,
                                env: @environment)
      tally(ok, SUMMARY.match(output))
    end

    private

    def tally(success, summary)
      return Tally.new(layer: @layer, passed: 0, failed: 1) unless summary

      runs, failures, errors, skips = summary.captures.map(&:to_i)
      failed = failures + errors
      failed = 1 if failed.zero? && !success
      Tally.new(layer: @layer, passed: [runs - failures - errors - skips, 0].max, failed: failed)
    end
  end
end
