# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/snapshots"
require "heapline/cli/rendering"

module Heapline
  module CLI
    class RenderingTest < Minitest::Test
      include Snapshots

      def shown(name, **options)
        out = StringIO.new
        Rendering.show(Rendering.format(name, **options), leaky, out)
        out.string
      end

      def test_a_format_gets_the_options_that_it_knows
        assert_equal 2, shown("csv", top: 1, directory: "/", env: {}).lines.size
        assert_match(/ temporary▼ /, shown("text", sort: :temporary, env: { "LANG" => "C.UTF-8" }))
        assert_includes shown("csv", sort: :temporary, top: 1), "cache.rb:88"
      end

      def test_what_has_no_effect_is_an_error
        error = assert_raises(UsageError) { Rendering.format("speedscope", by: :gem) }
        assert_equal "speedscope has no --by", error.message
        assert_raises(UsageError) { Rendering.format("yaml") }
      end

      def test_bytes_that_are_no_text_do_not_go_to_a_terminal
        terminal = StringIO.new
        terminal.define_singleton_method(:tty?) { true }
        assert_raises(UsageError) { Rendering.show(Rendering.format("pprof"), leaky, terminal) }
        assert_empty terminal.string
        Rendering.show(Rendering.format("csv"), leaky, terminal)
        refute_empty terminal.string
      end
    end
  end
end
