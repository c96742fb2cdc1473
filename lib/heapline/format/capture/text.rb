# frozen_string_literal: true

require_relative "../heap/sheet"
require_relative "../heap/text"
require_relative "curves"

module Heapline
  module Format
    module Capture
      # A Sheet about captures for people.
      class Text < Heap::Text
        private

        def part(part)
          part.is_a?(Curves) ? part.lines(@terminal) : super
        end

        def heading(sheet)
          lines = sheet.dumps.flat_map { |dump| dump(dump) }
          [*title(sheet).map { |line| @terminal.style(line, :bold) }, *lines.map { |line| "  #{line}" }]
        end

        # What was asked for, and of which blocks.
        def title(sheet)
          chosen = sheet.dumps.first.summary.chosen.to_a
          Wrap.parts(["heapline #{sheet.kind}", *chosen.map { |words| cut(@terminal.inert(words)) }], @terminal)
        end

        def dump(dump)
          summary = dump.summary
          facts = ["#{dump.role&.ljust(8)}#{dump.name}", summary.command.join(" "), "pid #{summary.pid}",
                   Units.duration(summary.seconds), ending(summary), summary.ruby.to_s[/\Aruby \S+/],
                   summary.allocator, started(summary), options(summary)]
          Wrap.parts(facts.compact.reject(&:empty?).map { |fact| cut(@terminal.inert(fact)) }, @terminal)
        end

        def ending(summary)
          summary.ending || "cut short"
        end

        def options(summary)
          words = summary.options.to_a.map { |option| "--#{option}" }
          "recorded with #{words.join(" ")}" unless words.empty?
        end

        def started(summary)
          summary.started_at.getutc.strftime("%Y-%m-%d %H:%M:%S UTC") unless summary.started_at.to_i.zero?
        end
      end
    end
  end
end
