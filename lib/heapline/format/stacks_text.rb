# frozen_string_literal: true

require_relative "terminal"
require_relative "units"
require_relative "wrap"

module Heapline
  module Format
    # Backtraces for people: threads and fibers that are at the same place are one block, the largest first.
    class StacksText
      HELD = 8 # classes

      def initialize(env: ENV)
        @env = env
      end

      # Write a Model::Stacks to `io`.
      def render(stacks, io)
        @terminal = Terminal.new(io, @env)
        blocks = [heading(stacks), *groups(stacks).map { |group| block(group) }]
        io.write("#{blocks.map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def heading(stacks)
        counts = [counted(stacks.threads.size, "thread"), counted(stacks.fibers.size, "fiber")]
        parts = ["pid #{stacks.pid}", stacks.ruby.to_s[/\Aruby \S+/], stacks.time, *counts].compact
        ["#{@terminal.style("heapline stack", :bold)}  " \
         "#{parts.map { |part| @terminal.inert(part) }.join(@terminal.sign(" · "))}"]
      end

      # The same place, in the same state.
      def groups(stacks)
        stacks.stacks.group_by { |stack| [stack.kind, stack.state, stack.backtrace] }.values
              .sort_by.with_index { |group, index| [-group.size, index] }
      end

      def block(group)
        lines = group.first.backtrace.map { |line| "    #{@terminal.inert(line)}" }
        lines = ["    #{@terminal.style("(no Ruby frame)", :dim)}"] if lines.empty?
        [title(group), *lines, *held(group)]
      end

      def title(group)
        first = group.first
        names = group.filter_map(&:name)
        what = group.one? ? @terminal.inert(first.label) : counted(group.size, first.kind.to_s)
        title = "  #{@terminal.style([what, *(first.state unless group.one?)].join("  "), :bold)}"
        group.one? || names.empty? ? title : "#{title}  #{@terminal.inert(names.join(", "))}"
      end

      def held(group)
        sums = group.map(&:held).inject { |all, one| all.merge(one) { |_, a, b| a + b } }
        return [] if sums.empty?

        shown = sums.sort_by { |name, count| [-count, name] }.first(HELD)
        more = sums.size - shown.size
        parts = shown.map { |name, count| "#{Units.count(count)} #{@terminal.inert(name)}" }
        parts << "#{more} more" if more.positive?
        parts[0] = "holds #{parts.first}"
        Wrap.parts(parts, @terminal).map { |line| "    #{@terminal.style(line, :dim)}" }
      end

      def counted(number, noun)
        "#{Units.count(number)} #{noun}#{"s" unless number == 1}"
      end
    end
  end
end
