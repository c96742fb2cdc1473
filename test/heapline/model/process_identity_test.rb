# frozen_string_literal: true

require "test_helper"
require "heapline/model/process_identity"

module Heapline
  module Model
    class ProcessIdentityTest < Minitest::Test
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
