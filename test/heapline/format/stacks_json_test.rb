# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/stack_lines"
require "heapline/format/stacks_json"
require "heapline/model/stacks"

module Heapline
  module Format
    class StacksJsonTest < Minitest::Test
      def test_one_object
        io = StringIO.new
        StacksJson.new.render(Model::Stacks.parse(STACK_LINES), io)
        data = JSON.parse(io.string)
        assert_equal [1, 4711, "2026-11-21T10:00:00Z"], data.values_at("schema_version", "pid", "time")
        first = { "kind" => "thread", "address" => "0x10", "label" => "#<Thread:0x10 run>", "state" => "run",
                  "backtrace" => ["app.rb:9:in 'Object#serve'", "app.rb:12:in '<main>'"],
                  "holds" => [{ "class" => "Array", "count" => 4 }, { "class" => "Hash", "count" => 1 }] }
        assert_equal first, data["stacks"].first
        assert_equal %w[fiber suspended], data["stacks"].last.values_at("kind", "state")
      end
    end
  end
end
