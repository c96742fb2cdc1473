# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/stack_lines"
require "heapline/format/stacks_text"
require "heapline/model/stacks"

module Heapline
  module Format
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
        StacksText.new(env: { "LANG" => "C.UTF-8" }).render(Model::Stacks.parse(STACK_LINES), io)
        assert_equal TEXT, io.string
      end
    end
  end
end
