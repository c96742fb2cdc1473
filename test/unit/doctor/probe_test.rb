# frozen_string_literal: true

require "test_helper"
require "heapline/cli"
require "heapline/doctor/doctor_command"
require "heapline/doctor/checks"

module Heapline
  module Doctor
    class ProbeTest < Minitest::Test
      def test_a_core_that_cannot_be_preloaded_leaves_no_file_and_says_so
        replacing(Command::Installation, :core, "/no/such/libheapline.so") do
          probe = Probe.new({})
          assert_nil probe.snapshot
          assert_match(/left no flight file: .*libheapline.so/, probe.error)
        end
      end

      def test_for_real
        skip "the core is not compiled" unless File.exist?(CORE)
        probe = Probe.new({})
        assert_nil probe.error
        assert_equal({ "method" => true, "block" => true, "Fiber" => true, "Thread" => true, "eval" => true },
                     probe.attribution)
      end
    end
  end
end
