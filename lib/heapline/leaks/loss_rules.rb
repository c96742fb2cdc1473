# frozen_string_literal: true

require_relative "reader"
require_relative "suppressions"
require_relative "../terminal/inert"

module Heapline
  module Leaks
    # Whose lost blocks are shown: options of the commands that look for them.
    module LossRules
      # So many suppressions that hid nothing.
      NAMED = 3

      private

      def define_loss_rules(parser)
        parser.on("--library REGEX", "only lost blocks whose stack passes through a library of this name") do |value|
          @options[:library] = regexp(value)
        end
        parser.on("--all", "also what the Ruby VM and the system's libraries lost themselves") { @options[:all] = true }
        parser.on("--suppressions FILE", "hide what FILE lists (LeakSanitizer's or Valgrind's syntax)") do |value|
          (@options[:suppressions] ||= []) << value
        end
      end

      def regexp(text)
        Regexp.new(text)
      rescue RegexpError => e
        raise UsageError, "--library: #{e.message}"
      end

      # Heapline::Leaks::Reader with these rules. Raises where a file of suppressions cannot be read.
      def reader
        @reader ||= Heapline::Leaks::Reader.new(rules: Heapline::Leaks::Rules.new(
          library: @options[:library], all: @options[:all], suppressions: suppressions
        ))
      end

      def suppressions
        @suppressions ||=
          Heapline::Leaks::Suppressions.read([Heapline::Leaks::Suppressions::SHIPPED, *@options[:suppressions]])
      end

      # Said when all reports were read.
      def say_unused_suppressions
        unused = suppressions.unused
        return if unused.empty?

        named = unused.first(NAMED).map { |entry| "#{Inert.text(entry.name)} (#{Inert.text(entry.place)})" }
        named << "and #{unused.size - NAMED} more" if unused.size > NAMED
        Command.say(@err, "suppressions that hid nothing: #{named.join(", ")}")
      end
    end
  end
end
