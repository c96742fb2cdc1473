# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"

module Heapline
  module Doctor
    # The program must run on any Ruby without anything of heapline.
    class ProbeProgramTest < Minitest::Test
      PROGRAM = File.join(LIB, "heapline", "doctor", "probe_program.rb")

      def test_runs_silently
        output, status = Open3.capture2e(plain_environment, RbConfig.ruby, "--disable=gems", PROGRAM)
        assert_equal [true, ""], [status.success?, output]
      end

      def test_marks_the_lines_that_doctor_looks_for
        assert_equal %w[method block Fiber Thread eval], File.read(PROGRAM).scan(/# probe: (\w+)/).flatten
      end
    end
  end
end
