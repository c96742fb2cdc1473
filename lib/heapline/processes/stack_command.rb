# frozen_string_literal: true

require "json"
require_relative "../errors"
require_relative "twin_inquiry"
require_relative "../command/base"
require_relative "running_process"
require_relative "../terminal/output"
require_relative "../figures/units"
require_relative "../terminal/inert"
require_relative "../table/json_object"

module Heapline
  module Processes
    # Where a thread or a fiber is. kind: :thread or :fiber. address: of its object, "0x…". label: as Ruby names it,
    # with its state. backtrace: Array of String, the innermost line first. held: Hash of class name => number of
    # objects that it refers to directly, most first.
    Stack = Struct.new(:kind, :address, :label, :backtrace, :held, keyword_init: true) do
      # "sleep_forever", "run", "suspended" …; nil where the label says none.
      def state
        label[/[ (](\w+)\)?>\z/, 1]
      end

      # The name that the program gave a thread; nil without.
      def name
        label[/\A#<[^@>]+@(.*?)(?: \S+:\d+)? \w+>\z/m, 1]
      end
    end

    # Where all threads and fibers of a process were at one moment. pid: Integer; ruby: its description; time: String,
    # UTC; stacks: Array of Stack.
    Stacks = Struct.new(:pid, :ruby, :time, :stacks, keyword_init: true) do
      # Of the lines that a twin wrote (ext/heapline/stacks.h). Raises FlightError where they are none.
      def self.parse(text)
        first, *others = text.each_line.map { |line| JSON.parse(line) }
        kinds = { "THREAD" => :thread, "FIBER" => :fiber }
        stacks = others.filter_map { |line| stack(kinds[line["type"]], line) if kinds.key?(line["type"]) }
        new(pid: first["pid"], ruby: first["ruby"], time: first["time"], stacks: stacks.freeze).freeze
      rescue JSON::ParserError, NoMethodError, TypeError
        raise FlightError, "what the process's copy wrote is not the backtraces of its threads"
      end

      def self.stack(kind, line)
        held = line["holds"].sort_by { |group| [-group["count"], group["class"]] }
        Stack.new(kind: kind, address: line["address"], label: line["label"].to_s, backtrace: line["backtrace"].freeze,
                  held: held.to_h { |group| group.values_at("class", "count") }.freeze).freeze
      end
      private_class_method :stack

      def threads
        stacks.select { |stack| stack.kind == :thread }
      end

      def fibers
        stacks.select { |stack| stack.kind == :fiber }
      end
    end

    # `heapline stack PID`: where each thread and fiber of a running process is, and what it holds.
    class StackCommand < Command::Base
      include RunningProcess

      USAGE_LINE = "stack [options] PID"
      SUMMARY = "Show the Ruby backtrace of every thread and fiber of a running process"
      FORMATS = %w[text json].freeze

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it has no threads any more", ruby: true)
        lines = "".b
        late = ->(why) { say_waiting(entry, why) }
        TwinInquiry.new(entry, :stacks).read(timeout: timeout, waiting: late) do |bytes|
          lines << bytes
        end
        chosen.render(Stacks.parse(lines.force_encoding(Encoding::UTF_8)), @out)
        Command::OK
      end

      private

      def define(parser)
        define_format(parser, FORMATS, "text, or json")
        define_timeout(parser)
      end

      def chosen
        json? ? StacksJson.new : StacksText.new(env: @env)
      end
    end

    # Backtraces for people: threads and fibers that are at the same place are one block, the largest first.
    class StacksText
      HELD = 8 # classes

      def initialize(env: ENV)
        @env = env
      end

      # Write a Processes::Stacks to `io`.
      def render(stacks, io)
        @terminal = Terminal::Output.new(io, @env)
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
        @terminal.wrap(parts).map { |line| "    #{@terminal.style(line, :dim)}" }
      end

      def counted(number, noun)
        "#{Units.count(number)} #{noun}#{"s" unless number == 1}"
      end
    end

    # Backtraces as one JSON object; docs/cli.md describes each key.
    class StacksJson
      include Table::JsonObject

      SCHEMA_VERSION = 1

      # Write a Processes::Stacks and a line end to `io`.
      def render(stacks, io)
        data = { schema_version: SCHEMA_VERSION, pid: stacks.pid, ruby: text(stacks.ruby), time: text(stacks.time),
                 stacks: stacks.stacks.map { |stack| stack(stack) } }
        write(data, io)
      end

      private

      def stack(stack)
        { kind: stack.kind, address: text(stack.address), label: text(stack.label), state: stack.state,
          backtrace: stack.backtrace.map { |line| text(line) },
          holds: stack.held.map { |name, count| { class: text(name), count: count } } }
      end

      def text(text)
        Inert.valid(text)
      end
    end
  end
end
