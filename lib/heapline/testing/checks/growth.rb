# frozen_string_literal: true

require_relative "../findings"
require_relative "growth_window"
require_relative "lines"
require_relative "retained_objects"
require_relative "../../leaks/api"

module Heapline
  module Checks
    # Runs a block again and again and says which lines hold more memory with each run. docs/checks.md explains the rule
    # (Testing::GrowthRule) and shows how sure it is.
    #
    # After the warm-up the block runs `iterations` times. Where that leaves nothing more behind, it is the answer.
    # Otherwise the block gets the benefit of the doubt: a second round, and then windows of two, four and eight rounds,
    # each judged alone, until one is clear. So a cache has time to fill, and only a block that fails runs longer.
    class Growth
      # Rounds before anything is judged, and in each window that is.
      SETTLING = [1, 1].freeze
      JUDGED = [2, 4, 8].freeze
      # The block sees the same random numbers each time, so that the answer is the same each time.
      SEED = 1

      # iterations: runs of the block in a round, at least ten. warmup: runs before. only, ignore: see Lines.
      # own_thread: look at what the calling thread allocates only; nil: where that is not the main thread.
      def initialize(iterations: 100, warmup: 10, only: nil, ignore: nil, own_thread: nil)
        least = GrowthWindow::POINTS
        raise ArgumentError, "iterations: at least #{least}, not #{iterations}" if iterations < least
        raise ArgumentError, "warmup: 0 or more, not #{warmup}" if warmup.negative?

        @iterations = iterations
        @warmup = warmup
        @lines = Lines.new(only: only, ignore: ignore)
        @own_thread = own_thread.nil? ? Thread.current != Thread.main : own_thread
      end

      # Run it: Testing::BlockGrowth. Raises what the block raises; NotEnabled without the preload.
      def run(&block)
        owner = OwnThread.new if @own_thread
        @runs = 0
        block = owner.around(block) if owner
        findings = seeded { grown(owner&.of(@lines) || @lines, block) }
        Testing::BlockGrowth.new(findings: findings.freeze, iterations: @runs, own_thread: @own_thread)
      ensure
        owner&.release
      end

      private

      def seeded
        former = srand(SEED)
        yield
      ensure
        srand(former) if former
      end

      # Array of GrowthFinding.
      def grown(lines, block)
        run_times(@warmup, block)
        GrowthWindow.rehearse(lines)
        return [] unless SETTLING.all? { |rounds| window(rounds, lines, block).risen? }

        JUDGED.each do |rounds|
          window = window(rounds, lines, block)
          case window.verdict
          when :not then return []
          when :grows then return findings(window, block)
          end
        end
        []
      end

      def window(rounds, lines, block)
        final = rounds == JUDGED.last
        window = GrowthWindow.new(rounds, @iterations, lines, objects: !@own_thread, final: final)
        window.take { |count| run_times(count, block) }
        window
      end

      def run_times(count, block)
        @runs += count
        index = 0
        while index < count
          block.call
          index += 1
        end
      end

      # Of Ruby objects the points know only how many there are. Which lines keep them is asked in one more round.
      def findings(window, block)
        found = with_frames(window.memory, window.since)
        return found unless window.objects_grow?

        lines = RetainedObjects.of(@iterations) { run_times(1, block) }
        [*found, window.objects(lines)]
      end

      def with_frames(found, since)
        return found if found.empty?

        Heapline.quiet do
          frames = NativeFrames.new(since)
          found.map { |finding| Testing::GrowthFinding.new(**finding.to_h, frames: frames.of(finding.location)) }
        end
      end
    end

    # The C functions that asked for what a line holds: of the blocks that were born since some generation and live, the
    # native stack that most of them have. Where live blocks are not kept, nothing is known.
    # @api private
    class NativeFrames
      # since: generation.
      def initialize(since)
        raw = Heapline::Leaks::Reader.raw(Heapline::Leaks.search(since, true), "the search")
        @code = Heapline::Leaks::Code.of(raw, symbols: Heapline::Leaks.symbols)
        @records = raw.data["records"]
      rescue NotEnabled, SystemCallError
        @records = []
      end

      # Array of NativeFrame of a Places::Location, the caller of malloc first.
      def of(location)
        same = @records.select { |record| at?(record["site"], location) }.group_by { |record| record["frames"] }
        stack, = same.max_by { |_, records| records.sum { |record| record["blocks"] } }
        stack ? @code.frames([stack]).first : []
      end

      private

      def at?(site, location)
        library = site["library"]
        site["path"] == location.path && (location.path.nil? || site["line"] == location.lineno) &&
          Places::BaseName.of(library) == location.library &&
          (location.path || site["offset"] == location.offset)
      end
    end
  end
end
