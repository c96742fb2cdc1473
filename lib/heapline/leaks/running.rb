# frozen_string_literal: true

require_relative "../clock"
require_relative "../files/input"
require_relative "../accounting/flight"
require_relative "../attach/session"
require_relative "../command/base"
require_relative "../processes/running_process"
require_relative "../processes/visit"

module Heapline
  module Leaks
    # A running process that keeps blocks: asked through its flight file, it searches a copy of itself and leaves the
    # report beside that file.
    class Running
      include Clock

      TIMEOUT = 60.0
      STEP = 0.02
      AGAIN = 0.5

      # [[text, name]].
      attr_reader :texts

      def initialize(words, env, err, since: false, reachable: false, timeout: TIMEOUT)
        @entry = Processes::RunningProcess.find(words, env, dead: "its blocks are gone")
        @asked = [since ? true : false, reachable ? true : false]
        @env = env
        @err = err
        @timeout = timeout
        check(header = Accounting::Flight.header(@entry.path))
        @ruby = !Processes::RunningProcess.without_ruby?(header)
        @texts = [[answer, path]]
      end

      def status
        Command::OK
      end

      private

      def check(header)
        return if header[:options].split(",").include?("blocks")

        how = "heapline detach #{@entry.pid}, then heapline attach --blocks #{@entry.pid}"
        how = "start it with `heapline --blocks …`; or, to find what it loses from now on: #{how}" if
          header[:late_ns].zero?
        raise Error, "process #{@entry.pid} keeps no blocks: #{how}"
      end

      def path
        "#{@entry.path.delete_suffix(".flight")}.leaks"
      end

      # A request that comes at a bad moment is dropped by the process, so it is made again until the search has
      # begun.
      def answer
        remove
        limit = now + @timeout
        @visit = Processes::Visit.new(@entry)
        until File.exist?(path)
          raise Error, problem if now >= limit || gone?

          ask
          sleep STEP
          @visit.look if @ruby && !begun?
        end
        Input.bytes(path, pipe: false)
      ensure
        remove
      end

      # The copy that searches goes on when the process has ended.
      def gone?
        !@entry.alive? && !File.exist?("#{path}.part") && !File.exist?(path)
      end

      def ask
        return if begun? || now < @again.to_f

        request
        say_waiting if @again
        @again = now + AGAIN
      end

      def request
        return Native.request_leaks(@entry.path, *@asked) if @ruby

        since, reachable = @asked
        wishes = [:leaks, (:since if since), (:reachable if reachable)].compact
        Attach::Session.new(@entry.pid, env: @env, timeout: @timeout).errand(*wishes)
      end

      def begun?
        File.exist?("#{path}.part") || File.exist?(path)
      end

      def say_waiting
        return if @said

        @said = true
        @err.puts "heapline: asked process #{@entry.pid}; #{@visit.why || "it answers at its next allocation"}"
      end

      def remove
        File.unlink(path)
      rescue Errno::ENOENT
        nil
      rescue SystemCallError => e
        raise InputError, "#{path} is in the way, and cannot be removed: #{Error.reason(e)}"
      end

      def problem
        return "process #{@entry.pid} ended before it answered" unless @entry.alive?

        "process #{@entry.pid} has not answered for #{@timeout} s: " \
          "#{@visit.why || "it answers after its next allocation (busy in native code?)"}"
      end
    end
  end
end
