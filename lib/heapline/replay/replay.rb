# frozen_string_literal: true

require "tempfile"
require_relative "../files/input"
require_relative "comparison"
require_relative "allocator"
require_relative "plan"
require_relative "replayer"

module Heapline
  # Performs again what a program asked of its allocator, on this allocator and on others:
  #
  #   Heapline::Replay.new("run.hlc", allocators: %w[glibc jemalloc]).compare.advice
  class Replay
    REPEAT = 5
    TOUCHING = %i[written all none].freeze

    # Write the plan of the capture at `path` to `io`, an empty file; a plan is copied. Yields [bytes read, bytes in
    # all]. Returns an Array of String: what of the capture could not be read. Raises Error.
    def self.export(path, io, &)
      return PlanFile.make(path, io, &) unless PlanFile.plan?(path)

      Input.open(path, pipe: false) { |input| input.copy(io) }
      []
    end

    # path: a capture, or a plan. allocators: names of Allocator::NAMES or paths of libraries, the first is what the
    # others are compared with; nil: all that are installed, that of the program first. settings: Settings.
    # repeat: rounds. touching: which pages of the blocks are written to. time_only: measure the time of the calls and
    # nothing else.
    def initialize(path, allocators: nil, settings: Settings.new, repeat: REPEAT, touching: :written, time_only: false)
      @path = path
      @settings = settings
      @repeat = repeat
      @touching = time_only ? :none : touching
      @time_only = time_only
      @allocators, @missing = allocators ? [allocators.map { |word| Allocator.find(word) }, []] : installed
      settings.check(@allocators)
      @replayer = Replayer.new
    end

    # Replays all variants, round by round, so that whatever changes on the machine meanwhile changes for all. reading:
    # called with [bytes read, bytes in all] while a plan is made of a capture. Yields [replays done, replays in all].
    # Returns a Replay::Comparison. Raises Error.
    def compare(reading: nil, &progress)
      with_plan(reading) do |path, problems|
        plan = PlanFile.read(path, name: @path)
        candidates = candidates()
        runs = rounds(path, candidates, &progress)
        variants = candidates.zip(runs).map do |(allocator, about, settings), list|
          Variant.new(allocator: about.name, library: allocator.path, settings: settings, runs: list)
        end
        Comparison.new(plan: plan, variants: variants, missing: @missing, problems: problems,
                       touching: @touching, time_only: @time_only)
      end
    end

    private

    def installed
      Allocator.all(first: PlanFile.allocator(@path))
    end

    # Yields the path of the plan (the file that was given, or one that is made of a capture and is gone afterwards),
    # and what could not be read.
    def with_plan(reading)
      return yield(@path, []) if PlanFile.plan?(@path)

      Tempfile.create("heapline-plan") do |file|
        problems = self.class.export(@path, file, &reading)
        yield file.path, problems
      end
    end

    # Array of [Allocator, About, settings].
    def candidates
      @allocators.flat_map do |allocator|
        @settings.for(allocator).map { |settings| [allocator, @replayer.about(allocator, settings), settings] }
      end
    end

    # Array of Arrays of Run, as the candidates.
    def rounds(path, candidates)
      runs = candidates.map { [] }
      total = candidates.size * @repeat
      @repeat.times do |round|
        candidates.each_with_index do |(allocator, _, settings), i|
          runs[i] << @replayer.replay(path, allocator, settings: settings, touching: @touching, samples: !@time_only,
                                                       name: @path)
          yield((round * candidates.size) + i + 1, total) if block_given?
        end
      end
      runs
    end
  end
end
