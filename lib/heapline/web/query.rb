# frozen_string_literal: true

require_relative "../cli/size"
require_relative "../errors"
require_relative "../format/columns"
require_relative "../format/inert"

module Heapline
  module Web
    # What a query may say about the rows of an answer: top (rows; 0: all), sort (a key of Format::Columns), min
    # (bytes), by (gem, file, library, tag). Raises UsageError where it says something else.
    class Query
      GROUPS = %w[gem file library tag].freeze

      # params: Hash of Strings
      def initialize(params)
        @params = params
      end

      # Rows; `usual` where nothing is said.
      def top(usual)
        @params.key?("top") ? CLI::Size.count(@params["top"]) : usual
      end

      def min
        @params.key?("min") ? CLI::Size.bytes(@params["min"]) : 0
      end

      # Column by whose figures is sorted.
      def column
        name = @params.fetch("sort", "growth")
        key = Format::Columns::KEYS.find { |known| known.to_s == name }
        key ? Format::Columns.fetch(key) : refuse("sort", name, Format::Columns::KEYS)
      end

      # :gem, :file, :library, :tag or nil.
      def by
        name = @params["by"]
        GROUPS.include?(name) || name.nil? ? name&.to_sym : refuse("by", name, GROUPS)
      end

      # A whole number of seconds in `range`.
      def seconds(range)
        text = @params["seconds"].to_s
        return text.to_i if text.match?(/\A\d{1,6}\z/) && range.cover?(text.to_i)

        refuse("seconds", text, ["#{range.first} to #{range.last}"])
      end

      private

      def refuse(name, value, known)
        raise UsageError, "#{name}=#{Format::Inert.text(value)}: it can be #{known.join(", ")}"
      end
    end
  end
end
