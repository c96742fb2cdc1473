# frozen_string_literal: true

require "test_helper"
require "support/answering"
require "support/cli"
require "heapline/processes/trim_command"

module Heapline
  module Processes
    class TrimCommandTest < Minitest::Test
      include Answering
      include CliHelper

      def trim(before, after, *options)
        thread = answer_with(own_flight(allocator: "glibc 2.36"), figures_bytes(nanoseconds, trim: [before, after]))
        result = heapline("trim", *options, *PATIENTLY, Process.pid.to_s)
        assert_equal 10, thread.value
        assert_equal 0, result.status, result.err
        result.out
      end

      def test_says_what_came_back
        me = "process #{Process.pid}"
        assert_equal "#{me} gave back 10.00 MB: RSS was 90.00 MB, is 80.00 MB\n", trim(90_000_000, 80_000_000)
        assert_equal "#{me} grew by 1.00 MB: RSS was 90.00 MB, is 91.00 MB\n", trim(90_000_000, 91_000_000)
      end

      def test_json
        assert_equal({ "schema_version" => 1, "pid" => Process.pid, "rss_before_bytes" => 90, "rss_after_bytes" => 80 },
                     JSON.parse(trim(90, 80, "--json")))
      end

      def test_a_process_that_does_not_answer
        own_flight(allocator: "glibc 2.36")
        result = heapline("trim", "--timeout", "0.05", Process.pid.to_s)
        assert_equal 3, result.status
        assert_match(/has not answered for 0\.05 s: it answers after its next allocation/, result.err)
      end

      def test_the_dead
        flight(pid: 4711)
        assert_match(/4711 is dead: it has nothing to give back/, heapline("trim", "4711").err)
      end
    end
  end
end
