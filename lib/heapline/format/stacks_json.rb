# frozen_string_literal: true

require_relative "inert"
require_relative "json_object"

module Heapline
  module Format
    # Backtraces as one JSON object; docs/cli.md describes each key.
    class StacksJson
      include JsonObject

      SCHEMA_VERSION = 1

      # Write a Model::Stacks and a line end to `io`.
      def render(stacks, io)
        data = { schema_version: SCHEMA_VERSION, pid: stacks.pid, ruby: text(stacks.ruby), time: text(stacks.time),
                 stacks: stacks.stacks.map { |stack| stack(stack) } }
        write(data, io)
      end

      private

      def stack(stack)
        { kind: stack.kind, address: text(stack.address), label: text(stack.label), state: stack.state,
          backtrace: stack.backtrace.map { |line| text(line) },
          holds: stack.held.map { |name, count| { class: text(name), count: count } } }
      end

      def text(text)
        Inert.valid(text)
      end
    end
  end
end
