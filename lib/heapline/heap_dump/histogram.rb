# frozen_string_literal: true

require_relative "../model/gem_name"
require_relative "survey"

module Heapline
  class HeapDump
    # A survey's rows by what a user asks for.
    class Histogram
      KINDS = %i[class type line file gem generation].freeze
      UNTRACED = "(not traced)"
      APPLICATION = "(application)"

      # Name of the group of a file and line (either may be nil); by: :line, :file or :gem
      def self.place(by, file, line)
        return UNTRACED unless file

        case by
        when :line then "#{file}:#{line}"
        when :file then file
        else Model::GemName.of(file) || APPLICATION
        end
      end

      # Raises ArgumentError where `by` is none of KINDS.
      def self.check(by)
        raise ArgumentError, "by #{KINDS.join(", ")}" unless KINDS.include?(by)
      end

      # survey: Survey
      def initialize(survey)
        @survey = survey
      end

      # Array of Model::Heap::Group, largest first.
      def groups(by)
        Histogram.check(by)
        return @survey.types if by == :type

        Survey.groups(rows(by))
      end

      private

      def rows(by)
        case by
        when :class then @survey.classes.map { |name, _, *figures| [name, *figures] }
        when :generation then @survey.generations.map { |number, *figures| [number || UNTRACED, *figures] }
        else @survey.lines.map { |file, line, *figures| [Histogram.place(by, file, line), *figures] }
        end
      end
    end
  end
end
