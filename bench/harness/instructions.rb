# frozen_string_literal: true

require "fiddle"
require "open3"
require "rbconfig"

module Bench
  # Instructions that a preloaded library adds to a call of the malloc family, counted by Valgrind: the same on a busy
  # machine. What a process does for itself is taken away by a run without the calls.
  class Instructions
    CALLS = %w[pair reallocate usable_size passed].freeze
    COUNT = 10_000
    PROGRAM = File.expand_path("../workloads/native/calls.rb", __dir__)

    class Missing < StandardError
    end

    # library: the compiled pairs.c; core: what is preloaded; options: HEAPLINE
    def initialize(library, core:, options: "quiet")
      @library = library
      @core = core
      @options = options
    end

    # Hash of each of CALLS to the instructions added to one of them, a Float.
    def added
      with, without = [@core, nil].map { |preloaded| per_call(preloaded) }
      CALLS.to_h { |call| [call, with[call] - without[call]] }
    end

    private

    def per_call(preloaded)
      nothing = instructions(preloaded, "pair", 0)
      CALLS.to_h { |call| [call, (instructions(preloaded, call, COUNT) - nothing).fdiv(COUNT)] }
    end

    def instructions(preloaded, call, count)
      environment = Environment.clean.merge("LD_PRELOAD" => preloaded, "HEAPLINE" => @options,
                                            "BENCH_NATIVE" => @library)
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
