# frozen_string_literal: true

require "json"
require "heapline/testing/checks"
require_relative "../../clock"
require_relative "memory_state"
require_relative "results"

module Heapline
  module Suite
    # Writes down what each test of this process did: a line of JSON for each, in a file of this process, so that what
    # is known outlives it. A forked worker goes on in a file of its own.
    #
    # Memory is read after a full GC when a test has ended; by what it differs from the reading before is the test's.
    # Tests that run at the same time in threads cannot be told from each other: they are one.
    class Recorder
      # directory: where the files go; a file in it says what is asked for.
      def initialize(directory)
        @directory = directory
        @settings = JSON.parse(Input.text(File.join(directory, Results::SETTINGS)), symbolize_names: true)
        @lock = Mutex.new
      end

      # A test begins: Hash with :name, :file, :line. Returns true: `leave` must follow.
      def enter(test)
        guarded do
          enter_process unless @pid == Process.pid
          start if @running.zero?
          @running += 1
          @tests << test
        end
        true
      end

      # It has ended. repeat: what runs it once more and returns whether it passed (anything with `call`).
      def leave(repeat)
        return unless @pid == Process.pid # a child of the test's, on its way out

        figures = guarded do
          @running -= 1
          measured if @running.zero?
        end
        return unless figures

        figures = { **figures, **judged(repeat) }
        guarded { write(figures) }
      end

      private

      # The tests come first: what goes wrong here is said once, and then nothing more is measured.
      def guarded(&)
        @lock.synchronize { Heapline.quiet(&) unless @broken }
      rescue SystemCallError, Error => e
        @broken = true
        Error.say("the tests of process #{Process.pid} are no longer measured: #{e.message}")
      end

      # A lock that another thread held at a fork is free in the child, which has no other thread.
      def enter_process
        Hook.leave_environment
        @pid = Process.pid
        @running = 0
        @file = File.open(File.join(@directory, "#{@pid}.jsonl"), File::WRONLY | File::CREAT | File::EXCL, 0o600)
        @before = MemoryState.take
      end

      def start
        @tests = []
        @began = Clock.now
        @peak = Checks::Peak.open
      end

      def measured
        @ended = Clock.now
        peak = Checks::Peak.close(@peak)
        after = MemoryState.take
        figures = after.since(@before)
        @retains = figures.delete(:retains)
        @repeated = false
        generations = [@before.generation, after.generation - 1]
        @before = after
        { **named, pid: @pid, generations: generations, seconds: @ended - @began, peak_bytes: peak, **figures }
      end

      def write(figures)
        figures = { **figures, repeated: after_repeats } if @repeated
        @file.syswrite("#{JSON.generate({ **figures, measuring: Clock.now - @ended })}\n")
      end

      # First and last generation of what was born meanwhile.
      def after_repeats
        first = @before.generation
        @before = MemoryState.take
        [first, @before.generation - 1]
      end

      def named
        return @tests.first if @tests.size == 1

        { **@tests.first, name: "#{@tests.size} tests at a time", tests: @tests.size }
      end

      # Hash with :grows, what grows when the test is repeated, as text; or with :unjudged, why that is not known. Not
      # in quiet: its memory counts. Only a test that left something behind is asked, and was alone.
      def judged(repeat)
        return {} unless @settings[:growth] && @retains
        return { unjudged: Testing::TestMemory::PARALLEL } if @tests.size > 1

        @repeated = true
        { grows: Repeat.new(repeat).growth }
      rescue Repeat::Failed
        { unjudged: Testing::TestMemory::FAILED }
      end
    end

    # Runs one test again and again, to see whether it grows (Checks::Growth).
    class Repeat
      RUNS = { iterations: 10, warmup: 2 }.freeze
      # What the frameworks keep of each run is not the test's.
      IGNORED = Regexp.union(*MemoryState::FRAMEWORKS.map { |name| %r{/#{name}-\d} }).freeze

      # Raised out of the check where the test does not pass a second time.
      Failed = Class.new(StandardError)

      # run: a Proc that runs the test and returns whether it passed.
      def initialize(run)
        @run = run
      end

      # What grows, as text; nil: nothing. Raises Failed.
      def growth
        found = Checks::Growth.new(**RUNS, ignore: IGNORED).run { @run.call || raise(Failed) }
        Testing::CheckText.growth(found) if found.grown?
      end
    end
  end
end
