# frozen_string_literal: true

require "test_helper"
require "support/accounted"

module Heapline
  module Leaks
    class BesideTest < Minitest::Test
      include Accounted

      def test_a_program_that_is_no_child
        file = program(<<~RUBY)
          require "heapline"
          trap("CHLD") { puts "a child ended" }
          print Heapline::Leaks::Beside.output(["/usr/bin/env", "cat", "-n"], "one\\ntwo\\n" * 1000).lines.last
          p Heapline::Leaks::Beside.output(["/no/such/program"], "")
        RUBY
        out, err, status = heapline("--quiet", RbConfig.ruby, "-I", TestHelper::LIB, file)
        assert status.success?, err
        assert_equal ["  2000\ttwo\n", "\"\"\n"], out.lines
      end
    end
  end
end
