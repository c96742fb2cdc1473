# frozen_string_literal: true

require_relative "../errors"
require_relative "../figures/units"
require_relative "../table/sheet"

module Heapline
  class Recording
    # An answer about captures (Table::Sheet), and what writes it.
    module Sheet
      FORMATS = %w[text json csv].freeze

      # kind: what was asked. captures: Array of [name, Summary, role: "before" …, or nil]. Its title is an Array of
      # String: what was asked for, and of which blocks.
      def self.of(kind, captures, parts, problems)
        Table::Sheet.new(kind: kind, title: ["heapline #{kind}", *captures.first[1].chosen.to_a],
                         dumps: captures.map { |name, summary, role| dump(name, summary, role) }, parts: parts,
                         problems: problems)
      end

      # What writes it. Raises UsageError where there is no format of this name.
      def self.format(name, env:)
        case name
        when "text"
          require_relative "../command/base"
          require_relative "text"
          Text.new(directory: Command.here, env: env)
        when "json"
          require_relative "../table/json_object"
          Table::SheetJson.new(read: :captures)
        when "csv" # a table is a table
          require_relative "../table/csv"
          Table::SheetCsv.new
        else raise UsageError, "this cannot be written as #{name}: #{FORMATS.join(", ")}"
        end
      end

      def self.dump(name, summary, role)
        data = %i[pid command ruby allocator started_at options chosen seconds ending].to_h do |key|
          [key, summary[key]]
        end
        Table::Dump.new(role: role, name: name, facts: facts(summary),
                        data: { file: name, **data, options: summary.options.to_a, chosen: summary.chosen.to_a })
      end

      def self.facts(summary)
        [summary.command.join(" "), "pid #{summary.pid}", Units.duration(summary.seconds),
         summary.ending || "cut short", summary.ruby.to_s[/\Aruby \S+/], summary.allocator, started(summary),
         recorded_with(summary)].compact.reject(&:empty?)
      end

      def self.started(summary)
        summary.started_at.getutc.strftime("%Y-%m-%d %H:%M:%S UTC") unless summary.started_at.to_i.zero?
      end

      def self.recorded_with(summary)
        words = summary.options.to_a.map { |option| "--#{option}" }
        "recorded with #{words.join(" ")}" unless words.empty?
      end
      private_class_method :dump, :facts, :started, :recorded_with
    end
  end
end
