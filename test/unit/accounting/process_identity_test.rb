# frozen_string_literal: true

require "test_helper"
require "heapline/accounting/process_identity"

module Heapline
  module Accounting
    class ProcessIdentityTest < Minitest::Test
      def test_names_of_its_files
        name = /\A#{ProcessIdentity::STEM}\.flight\z/
        files = ["12-34.flight", "1-99-4026532000.flight"]
        first, other = files.map { |file| ProcessIdentity.of_stem(file.match(name)) }
        assert_equal [12, 34, ProcessIdentity::FIRST_NAMESPACE], [first.pid, first.start_ticks, first.namespace]
        assert_equal [1, 99, 4_026_532_000], [other.pid, other.start_ticks, other.namespace]
        assert_equal %w[12-34 1-99-4026532000], [first.stem, other.stem]
      end

      def test_a_process_that_cannot_be_seen_from_here_is_neither_alive_nor_dead
        foreign = ProcessIdentity.new(1, 1, 1)
        refute_predicate foreign, :alive?
        replacing(ProcessIdentity, :own_namespace, 2) { assert_predicate foreign, :out_of_sight? }
        replacing(ProcessIdentity, :own_namespace, ProcessIdentity::FIRST_NAMESPACE) do
          refute_predicate foreign, :out_of_sight?
        end
        refute_predicate ProcessIdentity.of(1), :out_of_sight?
      end

      def test_a_number_of_a_namespace_is_used_again
        here = ProcessIdentity.of(Process.pid)
        replacing(ProcessIdentity, :own_namespace, 2) do
          same, other = [0, 1].map { |more| ProcessIdentity.new(here.pid, here.start_ticks + more, here.namespace) }
          assert_equal [here.pid, nil], [same.pid_here, other.pid_here]
        end
      end

      def test_this_process_lives
        identity = ProcessIdentity.of(Process.pid)
        assert identity.alive?
        refute ProcessIdentity.new(Process.pid, identity.start_ticks + 1).alive?
      end

      def test_stopped
        pid = fork { sleep }
        identity = await { ProcessIdentity.of(pid) }
        refute identity.stopped?
        Process.kill(:STOP, pid)
        await("the child did not stop") { identity.stopped? }
        assert identity.alive?
      ensure
        Process.kill(:KILL, pid)
        Process.wait(pid)
      end

      def test_what_a_process_calls_itself
        reader, writer = IO.pipe
        pid = fork { [Process.setproctitle("shop: worker 1"), writer.puts, sleep] }
        reader.gets
        identity = ProcessIdentity.of(pid)
        assert_equal "shop: worker 1", identity.command
        assert_nil ProcessIdentity.new(pid, identity.start_ticks + 1).command
      ensure
        Process.kill(:KILL, pid)
        Process.wait(pid)
      end

      def test_a_zombie_is_dead_and_then_gone
        pid = fork { exit! }
        identity = await { ProcessIdentity.of(pid) }
        await("the child did not end") { ProcessIdentity.stat(pid)&.first == "Z" }
        refute identity.alive?
        Process.wait(pid)
        assert_nil ProcessIdentity.of(pid)
      end
    end
  end
end
