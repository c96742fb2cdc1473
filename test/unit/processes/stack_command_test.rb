# frozen_string_literal: true

require "test_helper"
require "json"
require "support/cli"
require "support/stack_lines"
require "support/twin_answer"
require "stringio"
require "heapline/processes/stack_command"

module Heapline
  module Processes
    class StackCommandTest < Minitest::Test
      include CliHelper
      include TwinAnswer

      def stack(*options)
        out, task = ask_twin("stack", *options, text: STACK_LINES)
        assert_equal 2, task
        out
      end

      def test_text
        assert_match(/^  2 threads  sleep_forever  one, two$/, stack)
      end

      def test_json
        assert_equal 4, JSON.parse(stack("--json"))["stacks"].size
      end

      def test_the_dead
        flight(pid: 4711)
        assert_match(/4711 is dead: it has no threads any more/, heapline("stack", "4711").err)
      end
    end

    class StacksTextTest < Minitest::Test
      TEXT = <<~'TEXT'
        heapline stack  pid 4711 · ruby 3.4.1 · 2026-11-21T10:00:00Z · 3 threads · 1 fiber

          2 threads  sleep_forever  one, two
            app.rb:5:in 'Thread::Queue#pop'
            holds 3 String

          #<Thread:0x10 run>
            app.rb:9:in 'Object#serve'
            app.rb:12:in '<main>'
            holds 4 Array · 1 Hash

          #<Fiber:0x40 \x1B[31m.rb:7 (suspended)>
            (no Ruby frame)
      TEXT

      def test_the_same_place_is_one_block
        io = StringIO.new
        StacksText.new(env: { "LANG" => "C.UTF-8" }).render(Stacks.parse(STACK_LINES), io)
        assert_equal TEXT, io.string
      end
    end

    class StacksJsonTest < Minitest::Test
      def test_one_object
        io = StringIO.new
        StacksJson.new.render(Stacks.parse(STACK_LINES), io)
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
