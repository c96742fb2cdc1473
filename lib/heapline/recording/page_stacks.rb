# frozen_string_literal: true

require_relative "../figures/units"
require_relative "model"
require_relative "weights"

module Heapline
  class Recording
    # The stacks of a capture as a page has them: a tree of call paths, and rows, each of one path, one thread and one
    # tag. The path of a Ruby object ends with its class. The largest stacks are whole. Of the others it tells the
    # innermost line of Ruby and what that called natively, below "(smaller stacks)".
    class PageStacks
      STACKS = 10_000
      NODES = 300_000
      # Names of threads, or of tags; the others become one.
      NAMES = 200
      # Of a longer stack the middle is left out.
      DEEPEST = 256
      # Stands for no line: the line is further out.
      MISSING = Frame.new(label: "(C frames not known)").freeze
      SMALLER, LEFT_OUT, UNKNOWN = ["(smaller stacks)", "(frames left out)", "(unknown)"].map do |label|
        Frame.new(label: label)
      end
      SPECIAL = [SMALLER, LEFT_OUT, UNKNOWN].freeze
      # The class of a Ruby object: the leaf of its path.
      ClassFrame = Class.new(Frame)
      WEIGHTS = Weights::OF_PAGES.map(&:figure).freeze

      # Array of Integer: the row of each stack, in the order in which they came.
      attr_reader :rows
      # Array of Recording::Frame, as the tree refers to them.
      attr_reader :frames
      # Names, nil where there is none.
      attr_reader :threads, :tags

      # stacks: Array of Recording::Stack
      def initialize(stacks, most: STACKS)
        @stacks = stacks
        @frames = [nil]
        @frame_numbers = { nil => 0 }.compare_by_identity
        @nodes = [[0, 0]]
        @children = {}
        @classes = {}
        @threads = names(:thread)
        @tags = names(:tag)
        @thread_numbers, @tag_numbers = [@threads, @tags].map { |all| all.each_with_index.to_h }
        place(most)
      end

      # Columns of the tree: node 0 is the root, a parent's number is below that of its children.
      def nodes
        { parent: @nodes.map(&:first), frame: @nodes.map(&:last) }
      end

      # Columns of the rows.
      def columns
        %i[node thread tag].zip(@row_numbers.keys.transpose).to_h { |name, values| [name, values || []] }
      end

      # Sentences.
      def notes
        return [] if @smaller.zero?

        whole, all = [@count - @smaller, @count].map { |count| Units.count(count) }
        ["The #{whole} largest of #{all} stacks are whole; of the others this page has the line that allocated, not " \
         "its callers: (smaller stacks)"]
      end

      private

      def place(most)
        @row_numbers = {}
        @rows = Array.new(@stacks.size, 0)
        order = largest_first
        @count = order.size
        @smaller = [order.size - most, 0].max
        order.each_with_index do |number, rank|
          whole = rank < most && @nodes.size < NODES
          @smaller = [@smaller, order.size - rank].max unless whole
          stack = @stacks[number]
          @rows[number] = row(whole ? shortened(stack.frames) : site(stack.frames), stack)
        end
      end

      # Numbers of stacks that allocated, by the largest share that each has of anything.
      def largest_first
        wholes = WEIGHTS.to_h { |name| [name, [@stacks.sum { |stack| stack.sums.public_send(name) }, 1].max.to_f] }
        allocated = @stacks.each_index.select { |number| @stacks[number].sums.allocations.positive? }
        allocated.sort_by do |number|
          sums = @stacks[number].sums
          [-wholes.map { |name, whole| sums.public_send(name) / whole }.max, number]
        end
      end

      def row(frames, stack)
        frames += [leaf(stack)] if stack.class_name
        node = frames.inject(0) { |parent, frame| child(parent, number(frame)) }
        key = [node, @thread_numbers.fetch(stack.thread, 0), @tag_numbers.fetch(stack.tag, 0)]
        @row_numbers[key] ||= @row_numbers.size
      end

      def leaf(stack)
        @classes[stack.class_name] ||= ClassFrame.new(label: stack.class_name)
      end

      def child(parent, frame)
        @children[(parent << 32) | frame] ||= begin
          @nodes << [parent, frame]
          @nodes.size - 1
        end
      end

      def number(frame)
        @frame_numbers[frame] ||= begin
          @frames << frame
          @frames.size - 1
        end
      end

      def shortened(frames)
        return [UNKNOWN] if frames.empty?
        return frames if frames.size <= DEEPEST

        [*frames.first(DEEPEST / 2), LEFT_OUT, *frames.last(DEEPEST / 2)]
      end

      # As the table has it.
      def site(frames)
        return [SMALLER, UNKNOWN] if frames.empty?

        ruby = frames.rindex { |frame| !frame.native? && frame != MISSING }
        [SMALLER, (frames[ruby] if ruby), (frames.last if ruby != frames.size - 1)].compact
      end

      # The first stands for all others: those that have no name, and those that are too many.
      def names(which)
        sums = Hash.new(0)
        @stacks.each { |stack| sums[stack.public_send(which)] += stack.sums.bytes_allocated }
        found = sums.keys.compact.max_by(NAMES) { |name| sums[name] }
        [nil, *found.sort]
      end
    end
  end
end
