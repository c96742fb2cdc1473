# frozen_string_literal: true

require "etc"
require_relative "../errors"
require_relative "../figures/units"
require_relative "../command/next_steps"
require_relative "../terminal/output"
require_relative "history"
require_relative "verdict"

module Heapline
  module Growth
    # Why a line has its verdict, as text: what was looked at and what the limits are, what would change it, what to do
    # next. The rules themselves: docs/accuracy.md.
    class WhyText
      ROUND = ->(bytes) { Units.bytes(bytes.round) }
      COUNT = ->(count) { Units.count(count.round) }
      TIMES = ->(number) { number.finite? ? format("%.2f", number) : "?" }
      PERCENT = ->(share) { "#{(100 * share).round} %" }
      TIME = ->(ms) { Units.duration(ms / 1000) }
      SLOPE = ->(slope) { slope.finite? ? "#{Units.signed(slope * 3_600_000)} an hour" : "not known: too few lines" }
      RATE = ->(change) { change.positive? ? "yes" : "no" }
      # Of each Verdict::Fact: how its figure is printed, what it is, and how its limit is told.
      FACTS = {
        lines: [COUNT, "lines of one process", "%s or more are needed to judge"],
        step: [ROUND, "height of the largest step", "a step has %s or more"],
        beside: [ROUND, "growth without the step", "less than %s: the step is the growth"],
        certain: [SLOPE, "the least growth that is 99 %% certain", "growth is more than 0"],
        rise: [ROUND, "rise of its lowest live bytes", "growth is %s or more"],
        kept: [PERCENT, "of the bytes allocated stay", "load is a reason only with %s or less"],
        faster: [RATE, "does it allocate faster and faster?", "load is a reason only then"],
        longer: [TIMES, "how much of the growth comes from bytes that stay longer (1: all)",
                 "with less than %s, load is the reason"],
        rarer: [RATE, "does it allocate more and more from one GC to the next?", "garbage is a reason only then"],
        waits: [TIMES, "GCs' worth of what it allocates is live",
                "garbage has less than %s: the GCs its freed blocks lived through, and a little"],
        older: [TIMES, "how much of the growth comes from bytes that live through more GCs (1: all)",
                "with less than %s, garbage that waits for a GC is the reason"],
        still: [TIMES, "speed of the second half (1: as fast as the whole)", "with %s or more it goes on"],
        filled: [ROUND, "level of the second half above the beginning", "a cache that filled up has %s or more"],
        time: [TIME, "from the first line of the log to the last", "a leak is seen in %s or more"],
        start: [ROUND, "rise of its lowest live bytes", "a leak is seen sooner with %s or more"],
        stayed: [ROUND, "of the growth are still there at the end", "a cache or a step leaves %s or more"],
        gcs: [COUNT, "GCs between the first line and the last", "%s or more: before, it may be garbage"],
        young: [PERCENT, "of the freed blocks died within a GC", "churn has %s or more"],
        turnover: [COUNT, "times its live bytes were allocated again", "churn has %s or more"]
      }.freeze
      # Of each verdict: what it means, what would change it, and what to do next (%<pid>s).
      VERDICTS = {
        leak: ["It keeps growing across GCs, and load does not explain it.",
               "It becomes a cache when its second half rises less than #{Verdict::STILL} times as fast as the whole.",
               ["heapline report %<pid>s --by class", "which objects? (with --objects)"],
               ["heapline heap dump %<pid>s -o heap.json", "what holds them? then: heapline heap dominators heap.json"],
               ["heapline leaks %<pid>s", "is it native memory that nothing points to? (with --blocks)"]],
        cache: ["It grew, and stopped.",
                "It becomes a leak when it goes on growing: look again with a longer log.",
                ["heapline growth --since 1h LOG", "is it level? Else give the cache a smaller limit"]],
        bloat: ["It grew in one step, and stays there.",
                "It becomes a leak when growth without the step makes a quarter of its height.",
                ["heapline rss %<pid>s", "what did the step take? See what the program did at that time"]],
        churn: ["What stays does not grow; much is allocated there and soon freed.",
                "It becomes steady when fewer blocks die young, and a leak when more stays than waits for a GC.",
                ["heapline report %<pid>s --sort bytes", "where does most garbage come from?"]],
        steady: ["It does not grow, or no more than load or rarer GCs explain.",
                 "It becomes a leak when its lowest live bytes rise for sure, and neither of them explains it.",
                 ["heapline growth LOG", "which other lines grow?"]],
        unsure: ["The log is too short to tell.",
                 "It gets a verdict with more lines, more time or more GCs.",
                 ["heapline log %<pid>s -o LOG", "log for longer, under load"]]
      }.freeze
      # Of a verdict whose next steps ask the process: how it is started anew once it has ended, and why so.
      AGAIN = {
        leak: ["heapline --objects --blocks COMMAND", "it has ended: start it like this, and let it grow; then"],
        bloat: ["heapline COMMAND", "it has ended: start it again; then"],
        churn: ["heapline COMMAND", "it has ended: start it again; then"],
        unsure: ["heapline --log LOG COMMAND", "it has ended: log the next one for longer, under load"]
      }.freeze
      # So many lines with the same name are explained.
      MOST = 5

      # line: what the line, or group, is called, or the end of its path.
      def initialize(line, env: ENV)
        @line = line
        @env = env
      end

      # Raises Error where no line is called so.
      def render(growth, io)
        found = matching(growth.series)
        raise Error, "#{@line} is in no line of the log; heapline growth LOG --top 0 shows all" if found.empty?

        @terminal = Terminal::Output.new(io, @env)
        blocks = found.first(MOST).map { |one| explained(one, growth) }
        blocks << ["  #{more(found.size - MOST)} this name: give more of the path"] if found.size > MOST
        io.write("#{blocks.map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def more(count)
        count == 1 ? "1 more has" : "#{count} more have"
      end

      def matching(series)
        exact = series.select { |one| one.location == @line }
        exact.empty? ? series.select { |one| one.location.to_s.end_with?("/#{@line}") } : exact
      end

      def explained(one, growth)
        meaning, change, *steps = VERDICTS.fetch(one.verdict)
        title = [one.location, one.label, one.tag].compact.map { |part| @terminal.inert(part) }.join("  ")
        needs = one.needs && " It needs #{one.needs}."
        ["#{@terminal.style(one.verdict.to_s, :bold)}  #{title}", "  #{meaning}#{needs}", "", *facts(one.facts), "",
         "  #{change}", *next_steps(one.verdict, steps, growth)]
      end

      # In columns: whether it holds, the figure, what it is, the limit.
      def facts(facts)
        rows = facts.uniq(&:name).map { |fact| cells(fact) }
        widths = [1, 2].map { |index| rows.map { |row| row[index].length }.max }
        rows.map do |holds, found, what, limit|
          "  #{holds}  #{found.rjust(widths[0])}  #{what.ljust(widths[1])}  #{limit}"
        end
      end

      def cells(fact)
        print, what, limit = FACTS.fetch(fact.name)
        [fact.holds ? "yes" : "no ", print.call(fact.found), format(what), format(limit, print.call(fact.limit))]
      end

      def next_steps(verdict, steps, growth)
        here = growth.processes.select(&:here)
        again = AGAIN[verdict] if here.all? { |process| over?(process) }
        steps = [again, *(steps unless verdict == :unsure)] if again
        pid = here.one? && !again ? here.first.pid : "PID"
        Command::NextSteps.lines(steps.map { |command, why| [format(command, pid: pid), why] }, @terminal)
      end

      # By its last line; or since.
      def over?(process)
        return true unless [nil, History::LIVING].include?(process.state)

        process.host == Etc.uname[:nodename] && !File.exist?("/proc/#{process.pid}")
      end
    end
  end
end
