# frozen_string_literal: true

require_relative "in_front"

module Heapline
  module Suite
    # In front of RSpec::Core::Example#run.
    module RSpecHook
      extend InFront

      # RSpec loads Example before the groups.
      def self.in_front_of(_group, recorder)
        super(::RSpec::Core::Example, recorder)
      end

      private

      def heapline_test
        { name: full_description, file: File.expand_path(metadata[:file_path]), line: metadata[:line_number] }
      end

      # The example runs again as it is: its group would keep a duplicate. What is known of its first run stays.
      def heapline_repeat
        result = metadata[:execution_result]
        exception = @exception
        metadata[:execution_result] = ::RSpec::Core::Example::ExecutionResult.new
        @exception = nil
        @heapline_repeated = true
        run(example_group.new(inspect_output), ::RSpec::Core::NullReporter)
      ensure
        @heapline_repeated = false
        @exception = exception
        metadata[:execution_result] = result
      end
    end
  end
end
