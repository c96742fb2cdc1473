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
  end
end
