# frozen_string_literal: true

require "json"
require_relative "../errors"
require_relative "stack"

module Heapline
  module Model
    # Where all threads and fibers of a process were at one moment. pid: Integer; ruby: its description; time: String,
    # UTC; stacks: Array of Stack.
    Stacks = Struct.new(:pid, :ruby, :time, :stacks, keyword_init: true) do
      # Of the lines that a twin wrote (ext/heapline/stacks.h). Raises FlightError where they are none.
      def self.parse(text)
        first, *others = text.each_line.map { |line| JSON.parse(line) }
        kinds = { "THREAD" => :thread, "FIBER" => :fiber }
        stacks = others.filter_map { |line| stack(kinds[line["type"]], line) if kinds.key?(line["type"]) }
        new(pid: first["pid"], ruby: first["ruby"], time: first["time"], stacks: stacks.freeze).freeze
      rescue JSON::ParserError, NoMethodError, TypeError => e
        raise FlightError, "these are no backtraces: #{e.message}"
      end

      def self.stack(kind, line)
        held = line["holds"].sort_by { |group| [-group["count"], group["class"]] }
        Stack.new(kind: kind, address: line["address"], label: line["label"].to_s, backtrace: line["backtrace"].freeze,
                  held: held.to_h { |group| group.values_at("class", "count") }.freeze).freeze
      end

      def threads
        stacks.select { |stack| stack.kind == :thread }
      end

      def fibers
        stacks.select { |stack| stack.kind == :fiber }
      end
    end
  end
end
