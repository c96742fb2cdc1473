# frozen_string_literal: true

require "fiddle"
require "open3"
require "rbconfig"

module Bench
  # Instructions that heapline adds to a call of the malloc family, counted by Valgrind: the same on a busy machine.
  # What a process does for itself is taken away by a run without the calls.
  class Instructions
    # How often each is called: so many that what a start waits for, some 60,000 instructions on a busy machine, is
    # less than a hundredth of what the calls add.
    CALLS = { "pair" => 50_000, "reallocate" => 50_000, "usable_size" => 5_000_000, "passed" => 50_000,
              "fiber" => 50_000 }.freeze
    PROGRAM = File.expand_path("../workloads/native/calls.rb", __dir__)

    class Missing < StandardError
    end

    # library: the compiled pairs.c; environment: what has the process counted; before: code that it runs first
    def initialize(library, environment: {}, before: "")
      @library = library
      @counted = environment.merge("BENCH_BEFORE" => before)
    end

    # Hash of each of CALLS to the instructions added to one of them, a Float.
    def added
      with, without = [@counted, {}].map { |environment| per_call(environment) }
      CALLS.keys.to_h { |call| [call, with[call] - without[call]] }
    end

    private

    def per_call(environment)
      nothing = instructions(environment, "pair", 0)
      CALLS.to_h { |call, count| [call, (instructions(environment, call, count) - nothing).fdiv(count)] }
    end

    def instructions(environment, call, count)
      environment = Environment.clean.merge("BENCH_NATIVE" => @library).merge(environment)
      output, = Open3.capture2e(environment, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                RbConfig.ruby, "--disable-gems", *fiddle, PROGRAM, call, count.to_s)
      counted = output[/Collected : (\d+)/, 1] or raise Missing, "valgrind counted nothing:\n#{output}"
      Integer(counted)
    end

    # Where fiddle lies, which is a gem since Ruby 4.0.
    def fiddle
      $LOADED_FEATURES.grep(%r{/fiddle\.(rb|so)\z}).flat_map { |path| ["-I", File.dirname(path)] }
    end
  end
end
