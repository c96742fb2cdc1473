# frozen_string_literal: true

require_relative "../errors"

module Heapline
  module CLI
    # What writes an answer about captures (Format::Heap::Sheet).
    module SheetFormat
      NAMES = %w[text json csv].freeze

      # The format of this name. Raises UsageError where there is none.
      def self.of(name, env:)
        case name
        when "text"
          require_relative "../format/capture/text"
          Format::Capture::Text.new(directory: Dir.pwd, env: env)
        when "json"
          require_relative "../format/capture/json"
          Format::Capture::Json.new
        when "csv" # a table is a table
          require_relative "../format/heap/csv"
          Format::Heap::Csv.new
        else raise UsageError, "this cannot be written as #{name}: #{NAMES.join(", ")}"
        end
      end
    end
  end
end
