# frozen_string_literal: true

require "cgi/escape"
require "stringio"
require_relative "../terminal/inert"
require_relative "text"

module Heapline
  module Leaks
    # Lost blocks as JUnit XML, which CI systems show: each lost record is a failed test case, named by the
    # function that lost it and its place; without any, one case passes. What is possibly lost is in the output of the
    # suite.
    class Junit
      def initialize(kinds: %i[definite indirect possible])
        @kinds = kinds
      end

      # Write `leaks` (Leaks::Findings) to `io`.
      def render(leaks, io)
        lost = leaks.select(&:lost?)
        io.puts '<?xml version="1.0" encoding="UTF-8"?>'
        io.puts %(<testsuites name="heapline leaks" tests="#{[lost.size, 1].max}" failures="#{lost.size}">)
        io.puts %(  <testsuite name="lost blocks" tests="#{[lost.size, 1].max}" failures="#{lost.size}" errors="0">)
        lost.each { |record| io.puts failure(record) }
        io.puts '    <testcase classname="heapline.leaks" name="no block is lost"/>' if lost.empty?
        io.puts "    <system-out>#{escape(text(leaks))}</system-out>", "  </testsuite>", "</testsuites>"
      end

      private

      def failure(record)
        one = Findings.new([record])
        title = "#{record.bytes} bytes in #{record.blocks} blocks #{LossWords::TITLES[record.kind]}"
        [%(    <testcase classname="heapline.leaks" name="#{escape(name(record))}">),
         %(      <failure type="#{record.kind}" message="#{escape(title)}">#{escape(text(one))}</failure>),
         "    </testcase>"]
      end

      def name(record)
        [record.culprit&.name, record.location.to_s].compact.join(" at ")
      end

      def text(leaks)
        plain = { "NO_COLOR" => "1", "LANG" => "C.UTF-8" }
        StringIO.new.tap { |io| Text.new(kinds: @kinds, env: plain).render(leaks, io) }.string
      end

      # What XML has no character for was made visible; the line ends of the text stay.
      def escape(text)
        text.lines(chomp: true).map { |line| CGI.escapeHTML(Inert.text(line)) }.join("\n")
      end
    end
  end
end
