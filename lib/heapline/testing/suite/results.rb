# frozen_string_literal: true

require "json"
require_relative "../../files/input"
require_relative "../test_memory"

module Heapline
  module Suite
    # What the recorders of a suite's processes wrote.
    module Results
      # Of what is asked for: a file beside those of the recorders.
      SETTINGS = "settings.json"

      # Array of Testing::TestMemory in the order of the files. The last line of a process that was killed may be torn.
      def self.read(directory)
        Dir.glob("*.jsonl", base: directory).sort.flat_map do |name|
          Input.text(File.join(directory, name), most: Input::MOST).each_line.filter_map { |line| test(line) }
        end
      end

      def self.test(line)
        Testing::TestMemory.new(**JSON.parse(line, symbolize_names: true))
      rescue JSON::ParserError, ArgumentError
        nil
      end
      private_class_method :test
    end
  end
end
