# frozen_string_literal: true

module Heapline
  module Suite
    # The method `run` that a framework has for one test, with a recorder in front. A module that extends this has
    # heapline_test (Hash with :name, :file, :line) and heapline_repeat (runs the test once more, and says whether it
    # passed), called in the test.
    module InFront
      RUN = <<~RUBY
        def run(*, **, &)
          entered = heapline_enter
          super
        ensure
          heapline_leave if entered
        end
      RUBY

      # Frameworks leave lines of their own files out of the backtraces that they show. This one is to look like theirs.
      # type: the class with the method; recorder: what is told (Recorder).
      def in_front_of(type, recorder)
        module_eval(RUN, *(type.method_defined?(:run) ? type.instance_method(:run).source_location : [__FILE__, 1]))
        define_method(:heapline_enter) { recorder.enter(heapline_test) unless @heapline_repeated }
        define_method(:heapline_leave) { recorder.leave(method(:heapline_repeat)) }
        type.prepend(self)
      end
    end

    # In front of Minitest::Test#run.
    module MinitestHook
      extend InFront

      private

      def heapline_test
        file, line = method(name).source_location
        { name: "#{self.class}##{name}", file: file, line: line }
      end

      def heapline_repeat
        again = self.class.new(name)
        again.instance_variable_set(:@heapline_repeated, true)
        again.run.passed?
      end
    end

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

    # In front of Test::Unit::TestCase#run.
    module TestUnitHook
      extend InFront

      private

      def heapline_test
        file, line = method(method_name).source_location
        { name: name, file: file, line: line }
      end

      def heapline_repeat
        again = self.class.new(method_name)
        again.instance_variable_set(:@heapline_repeated, true)
        result = ::Test::Unit::TestResult.new
        again.run(result) { |*| nil }
        result.passed?
      end
    end
  end
end
