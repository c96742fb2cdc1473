# frozen_string_literal: true

module Heapline
  # What `heapline test` sees of a test suite. Parts of it run in the suite's processes.
  # @api private
  module Suite
    # Loaded by RUBYOPT into each Ruby process of the suite: by its path, before anything else, and with nothing loaded
    # itself. It waits for the first class of tests: then the framework is there, and its hook is loaded. Bundler, Rake
    # and all programs that are no tests never get further than this file.
    module Hook
      # Where the results go and what heapline's directories are, parted by unit separators.
      VARIABLE = "HEAPLINE_SUITE"
      # What all classes of tests descend from, and the module that knows how such tests are run.
      FRAMEWORKS = { "Minitest::Test" => :MinitestHook, "RSpec::Core::ExampleGroup" => :RSpecHook,
                     "Test::Unit::TestCase" => :TestUnitHook }.freeze
      NAME = Module.instance_method(:name)

      # Extends Object: asked whenever a class is made.
      def inherited(type)
        super
        Hook.look(type)
      end

      def self.look(type)
        type = type.superclass
        type = type.superclass until type.nil? || (framework = FRAMEWORKS[NAME.bind_call(type)])
        install(type, framework) if framework
      end

      def self.install(type, hook)
        return unless method_defined?(:inherited)

        remove_method(:inherited)
        directory, *libraries = ENV.fetch(VARIABLE).split("\x1f")
        $LOAD_PATH.concat(libraries - $LOAD_PATH)
        require_relative "recorder"
        require_relative "frameworks"
        Suite.const_get(hook).in_front_of(type, Recorder.new(directory)) if Heapline.enabled?
      rescue LoadError, SystemCallError => e
        require_relative "../../errors"
        Error.say("the tests of this process are not measured: #{e.message}")
      end

      # What the tests start is no part of the suite.
      def self.leave_environment
        [VARIABLE, "HEAPLINE_LEAKS"].each { |name| ENV.delete(name) }
        words = ENV["RUBYOPT"].to_s.split - ["-r#{__FILE__}", "-r#{__FILE__.delete_suffix(".rb")}"]
        ENV["RUBYOPT"] = words.empty? ? nil : words.join(" ")
      end
    end
  end
end

Object.extend(Heapline::Suite::Hook) if ENV.key?(Heapline::Suite::Hook::VARIABLE)
