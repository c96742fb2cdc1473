# frozen_string_literal: true

require_relative "../findings"

module Heapline
  module Checks
    # Which lines made the Ruby objects that a block leaves behind: Ruby's own object tracing (objspace), which is too
    # slow to be on while figures are taken.
    # @api private
    module RetainedObjects
      LINES = 5
      CLASS = Kernel.instance_method(:class)
      NAME = Module.instance_method(:name)

      # Run the block so often; Array of Testing::RetainedLine of what it made and is still there, most objects first.
      # Lines with less than an object in twenty runs are left out.
      def self.of(iterations, &block)
        lines = traced(collect: true) { iterations.times { block.call } }
        lines.select { |line| line.number * 20 >= iterations }.first(LINES).freeze
      end

      # Run the block once; the same of all that it made, garbage or not.
      def self.made(&)
        disabled = GC.disable
        traced(collect: false, &).first(LINES).freeze
      ensure
        GC.enable unless disabled
      end

      class << self
        private

        def traced(collect:)
          require "objspace"
          Heapline.quiet do
            GC.start
            ObjectSpace.trace_object_allocations_start
            yield
            GC.start if collect # traced, so that what is known of the dead is forgotten
            ObjectSpace.trace_object_allocations_stop
            lines
          end
        ensure
          ObjectSpace.trace_object_allocations_stop
          ObjectSpace.trace_object_allocations_clear
        end

        def lines
          found = Hash.new { |lines, key| lines[key] = [0, 0] }
          ObjectSpace.each_object(BasicObject) do |object|
            path = ObjectSpace.allocation_sourcefile(object)
            add(found, object) if path && !path.start_with?(__dir__)
          end
          found.map { |place, sums| line(place, *sums) }.sort_by { |line| [-line.number, line.location] }
        end

        def add(found, object)
          sums = found[[ObjectSpace.allocation_sourcefile(object), ObjectSpace.allocation_sourceline(object),
                        CLASS.bind_call(object)]]
          sums[0] += 1
          sums[1] += ObjectSpace.memsize_of(object)
        end

        def line(place, number, bytes)
          path, lineno, type = place
          Testing::RetainedLine.new(path: path, lineno: lineno, class_name: NAME.bind_call(type) || "(anonymous class)",
                                    number: number, bytes: bytes)
        end
      end
    end
  end
end
