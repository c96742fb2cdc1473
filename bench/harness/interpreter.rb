# frozen_string_literal: true

require "open3"

module Bench
  # The Ruby that is measured; it need not be the one that runs the harness. `flags` precede every program.
  class Interpreter
    attr_reader :path, :flags, :description, :key

    # Raises ArgumentError where `path` does not run.
    def initialize(path, flags: [])
      @path = path
      @flags = flags.dup.freeze
      @version, linking, @description = ask('[RUBY_VERSION, RbConfig::CONFIG["ENABLE_SHARED"], RUBY_DESCRIPTION]')
      @key = "ruby-#{@version}-#{linking == "yes" ? "shared" : "static"}"
    end

    # argv of this Ruby running `arguments`
    def command(*arguments)
      [path, *flags, *arguments]
    end

    # The same Ruby with YJIT, nil where it was built without.
    def with_yjit
      enabled = ask("[defined?(RubyVM::YJIT) ? RubyVM::YJIT.enabled? : false]", "--yjit")
      Interpreter.new(path, flags: ["--yjit"]) if enabled == ["true"]
    end

    # What distinguishes it from others, for headings: "3.4.1", "3.4.1 --yjit", "4.0.1 (static) --yjit"
    def name
      [@version, ("(static)" if key.end_with?("static")), *flags].compact.join(" ")
    end

    private

    # Clean of the harness's own Bundler, which a `bundle exec rake bench` would pass on.
    def ask(expression, *with)
      script = "puts(#{expression})"
      out, error, status = Open3.capture3(Environment.clean, path, *flags, *with, "-rrbconfig", "-e", script)
      raise ArgumentError, "#{path} does not run: #{error.lines.first}" unless status.success?

      out.lines(chomp: true)
    rescue SystemCallError => e
      raise ArgumentError, "#{path} does not run: #{e.message}"
    end
  end
end
