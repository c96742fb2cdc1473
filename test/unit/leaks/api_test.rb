# frozen_string_literal: true

require "test_helper"
require "support/accounted"
require "heapline"
require "heapline/leaks/api"

module Heapline
  module Leaks
    class BesideTest < Minitest::Test
      include Accounted

      def test_a_program_that_is_no_child
        file = program(<<~RUBY)
          require "heapline"
          trap("CHLD") { puts "a child ended" }
          print Heapline::Leaks.output_beside(["/usr/bin/env", "cat", "-n"], "one\\ntwo\\n" * 1000).lines.last
          p Heapline::Leaks.output_beside(["/no/such/program"], "")
          p Heapline::Leaks.output_beside(["/usr/bin/env"], "").scan("DEBUGINFOD_URLS")
        RUBY
        out, err, status = heapline("--quiet", RbConfig.ruby, "-I", TestHelper::LIB, file,
                                    env: { "DEBUGINFOD_URLS" => "http://127.0.0.1:9" })
        assert status.success?, err
        assert_equal ["  2000\ttwo\n", "\"\"\n", "[]\n"], out.lines
      end
    end
  end

  # Without the preload; with it: test/integration/leaks_test.rb.
  class LeaksApiTest < Minitest::Test
    def test_it_needs_the_preload
      skip "runs under heapline" if Heapline.enabled?
      assert_raises(NotEnabled) { Heapline.leaks }
    end

    def test_a_pattern_that_is_none
      assert_raises(RegexpError) { Heapline.leaks(library: "(") }
    end
  end
end
