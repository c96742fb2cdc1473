# frozen_string_literal: true

module Heapline
  module Model
    # Which process a flight file speaks of: pids are used again, pid and start time together are not.
    class ProcessIdentity
      attr_reader :pid, :start_ticks

      # start_ticks: field 22 of /proc/PID/stat, in clock ticks since boot.
      def initialize(pid, start_ticks)
        @pid = pid
        @start_ticks = start_ticks
        freeze
      end

      # The process that has this pid now, or nil.
      def self.of(pid)
        fields = stat(pid)
        new(pid, fields[19].to_i) if fields
      end

      # Does it still run (or hang)? A zombie is dead: its memory is gone.
      def alive?
        fields = self.class.stat(pid)
        !fields.nil? && fields[19].to_i == start_ticks && !%w[Z X].include?(fields[0])
      end

      # Is it stopped, by SIGSTOP or a debugger?
      def stopped?
        %w[T t].include?(self.class.stat(pid)&.first)
      end

      # Its command line as it is now, words ended by NUL (binary String): a program may write there what it likes. nil
      # where the process is gone.
      def command
        text = File.binread("/proc/#{pid}/cmdline").sub(/[\0 ]+\z/n, "")
        text if alive?
      rescue SystemCallError
        nil
      end

      # The fields of /proc/PID/stat after the command (which may contain anything): state first, start time 20th.
      def self.stat(pid)
        File.binread("/proc/#{Integer(pid)}/stat").rpartition(")").last.split
      rescue SystemCallError
        nil
      end
    end
  end
end
