# frozen_string_literal: true

require "test_helper"
require "rbconfig"
require "support/cli"
require "heapline/attach/session"

module Heapline
  module Attach
    # What is said before anything is done to a process; the rest: test/integration/attach_test.rb.
    class SessionTest < Minitest::Test
      include CliHelper

      # Yields the pid of a program that says when it is ready, and waits. counted: what its flight file says; nil: it
      # has none.
      def waiting(*command, counted: nil)
        IO.popen(command, "r+") do |io|
          io.gets
          ticks = Accounting::ProcessIdentity.of(io.pid).start_ticks
          flight(pid: io.pid, start_ticks: ticks, state: 1, ended_ns: 0, **counted) if counted
          yield io.pid
        end
      end

      RUBY = [RbConfig.ruby, "--disable=gems", "-e", "$stdout.syswrite(\"ready\\n\"); gets"].freeze

      def refusal(pid, *options)
        result = heapline("attach", *options, pid.to_s)
        assert_equal [3, ""], [result.status, result.out]
        result.err.delete_prefix("heapline: process #{pid} (#{File.basename(RbConfig.ruby)}) ").chomp
      end

      # Options that were given => what is said where neither objects nor blocks are kept.
      INSTEAD = {
        [] => "; see it with: heapline top %<pid>d",
        ["--record", "a b.hlc"] => "; record it with: heapline record -o a\\ b.hlc %<pid>d",
        %w[--blocks] => ", without --blocks: heapline detach %<pid>d, then heapline attach --blocks %<pid>d",
        %w[--objects --blocks --record x] =>
          ", without --objects and --blocks: heapline detach %<pid>d, then heapline attach --objects --blocks " \
          "--record x %<pid>d"
      }.freeze

      def test_what_to_do_where_it_is_counted
        waiting(*RUBY, counted: {}) do |pid|
          INSTEAD.each do |options, text|
            assert_equal "is counted already#{format(text, pid: pid)}", refusal(pid, *options)
          end
        end
      end

      def test_what_it_has_is_not_missed
        waiting(*RUBY, counted: { options: "late,blocks", objects_ns: 1 }) do |pid|
          assert_equal "is counted already; see it with: heapline top #{pid}", refusal(pid, "--objects", "--blocks")
        end
      end

      def test_a_program_without_ruby_has_no_ruby_objects
        waiting("sh", "-c", "echo ready; read it") do |pid|
          assert_match(/\(sh\) has no Ruby objects: no Ruby runs in it; attach without --objects$/,
                       refusal(pid, "--objects"))
        end
      end

      def test_where_it_is_to_be_recorded_is_looked_at_first
        result = heapline("attach", "--record", "/no/such/place/x.hlc", "1")
        assert_equal [3, "heapline: a capture cannot be written to /no/such/place: no such directory\n"],
                     [result.status, result.err]
      end
    end
  end
end
