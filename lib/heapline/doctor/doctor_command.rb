# frozen_string_literal: true

require_relative "../terminal/output"
require_relative "../terminal/inert"
require_relative "../command/base"

module Heapline
  module Doctor
    # `heapline doctor`: does heapline work here? Tries it, and names for each problem its remedy.
    class DoctorCommand < Command::Base
      USAGE_LINE = "doctor"
      SUMMARY = "Try whether heapline works here, and say what to do where it does not"
      MARKS = { ok: "ok", note: "note", problem: "PROBLEM" }.freeze
      STYLES = { ok: :green, note: :yellow, problem: :red }.freeze

      def call(argv)
        extra = parse(argv)
        raise UsageError, "doctor takes no arguments: #{extra.join(" ")}" unless extra.empty?

        require_relative "checks"
        @terminal = Terminal::Output.new(@out, @env)
        findings = Checks.new(@env).findings
        findings.each { |finding| print_finding(finding) }
        conclude(findings.count { |finding| finding.state == :problem })
      end

      private

      def print_finding(finding)
        mark = @terminal.style(MARKS[finding.state].ljust(7), STYLES[finding.state])
        @out.puts "#{mark}  #{finding.name.ljust(12)}  #{@terminal.inert(finding.text)}"
        @out.puts "#{" " * 23}#{@terminal.inert(finding.remedy)}" if finding.remedy
      end

      def conclude(problems)
        @out.puts problems.zero? ? "heapline works here" : "#{problems} problem#{"s" if problems > 1}"
        problems.zero? ? Command::OK : Command::FOUND
      end
    end
  end
end
