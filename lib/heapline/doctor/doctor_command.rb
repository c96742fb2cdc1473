# frozen_string_literal: true

require_relative "../terminal/output"
require_relative "../terminal/inert"
require_relative "../command/base"
require_relative "../table/json_object"

module Heapline
  module Doctor
    # `heapline doctor`: does heapline work here? Tries it, and names for each problem its remedy.
    class DoctorCommand < Command::Base
      include Table::JsonObject

      SCHEMA_VERSION = 1
      USAGE_LINE = "doctor [options]"
      SUMMARY = "Check whether heapline works here, and say what to do if it does not"
      MARKS = { ok: "ok", note: "note", problem: "PROBLEM" }.freeze
      STYLES = { ok: :green, note: :yellow, problem: :red }.freeze

      def call(argv)
        extra = parse(argv)
        raise UsageError, "doctor takes no arguments: #{extra.join(" ")}" unless extra.empty?

        require_relative "checks"
        findings = Checks.new(@env).findings
        problems = findings.count { |finding| finding.state == :problem }
        json? ? render_json(findings, problems) : render(findings, problems)
        problems.zero? ? Command::OK : Command::FOUND
      end

      private

      def define(parser)
        define_format(parser, %w[text json])
      end

      def render_json(findings, problems)
        rows = findings.map { |finding| finding.to_h.transform_values { |value| text(value&.to_s) } }
        write({ schema_version: SCHEMA_VERSION, works: problems.zero?, findings: rows }, @out)
      end

      def render(findings, problems)
        @terminal = Terminal::Output.new(@out, @env)
        findings.each { |finding| print_finding(finding) }
        @out.puts problems.zero? ? "heapline works here" : "#{problems} problem#{"s" if problems > 1}"
      end

      def print_finding(finding)
        mark = @terminal.style(MARKS[finding.state].ljust(7), STYLES[finding.state])
        @out.puts "#{mark}  #{finding.name.ljust(12)}  #{@terminal.inert(finding.text)}"
        @out.puts "#{" " * 23}#{@terminal.inert(finding.remedy)}" if finding.remedy
      end
    end
  end
end
