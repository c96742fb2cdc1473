# frozen_string_literal: true

module Heapline
  module Accounting
    # Which process a flight file speaks of: pids are used again, and each pid namespace has its own; pid, start time
    # and namespace together are one process's.
    class ProcessIdentity
      # The names of its files begin so: "PID-TICKS", and "-NAMESPACE" where that is not the kernel's first one.
      STEM = /(\d{1,10})-(\d{1,20})(?:-(\d{1,20}))?/
      FIRST_NAMESPACE = 0xeffffffc

      attr_reader :pid, :start_ticks, :namespace

      # pid: in its own namespace. start_ticks: field 22 of /proc/PID/stat, in clock ticks since boot; nil: whoever has
      # the pid now. namespace: inode of /proc/PID/ns/pid; 0: this program's own.
      def initialize(pid, start_ticks, namespace = 0)
        @pid = pid
        @start_ticks = start_ticks
        @namespace = namespace.zero? ? self.class.own_namespace : namespace
        freeze
      end

      # The process of a flight file's header (Flight.header).
      def self.of_header(header)
        new(*header.values_at(:pid, :start_ticks, :pid_namespace))
      end

      # The process that has this pid now, or nil.
      def self.of(pid)
        fields = stat(pid)
        new(pid, fields[19].to_i) if fields
      end

      # The process whose files have this stem (a MatchData of STEM).
      def self.of_stem(match)
        pid, ticks, namespace = match.captures.first(3)
        new(pid.to_i, ticks.to_i, namespace ? namespace.to_i : FIRST_NAMESPACE)
      end

      # The namespace in which this program sees /proc.
      def self.own_namespace
        File.stat("/proc/self/ns/pid").ino
      rescue SystemCallError
        FIRST_NAMESPACE
      end

      def stem
        [pid, start_ticks, *(namespace unless namespace == FIRST_NAMESPACE)].join("-")
      end

      # The pid that it has in this program's own namespace; nil where it cannot be seen from here.
      def pid_here
        namespace == self.class.own_namespace ? pid : self.class.pid_of(self)
      end

      # Does it still run (or hang)? A zombie is dead: its memory is gone. false also where it cannot be seen from here.
      def alive?
        fields = self.class.stat(pid_here)
        !fields.nil? && fields[19].to_i == start_ticks && !%w[Z X].include?(fields[0])
      end

      # May it be in a namespace that cannot be seen from here? From the first one all are seen.
      def out_of_sight?
        ![namespace, FIRST_NAMESPACE].include?(self.class.own_namespace) && pid_here.nil?
      end

      # Is it stopped, by SIGSTOP or a debugger?
      def stopped?
        %w[T t].include?(self.class.stat(pid_here)&.first)
      end

      # The kernel's number of the clock that counts the processor time of a process: of all its threads, exact.
      PROCESSOR_CLOCK = ->(pid) { (~pid << 3) | 2 }
      private_constant :PROCESSOR_CLOCK

      # Nanoseconds of processor time that it has used; nil where that cannot be told. A process for which it stands
      # still did nothing: whatever it counts is what it was.
      def processor_ns
        Process.clock_gettime(PROCESSOR_CLOCK.call(pid_here), :nanosecond) if alive?
      rescue SystemCallError
        nil
      end

      # Its command line as it is now, words ended by NUL (binary String): a program may write there what it likes. nil
      # where the process is gone.
      def command
        text = File.binread("/proc/#{pid_here}/cmdline").sub(/[\0 ]+\z/n, "")
        text if alive?
      rescue SystemCallError
        nil
      end

      # The fields of /proc/PID/stat after the command (which may contain anything): state first, start time 20th.
      def self.stat(pid)
        pid && File.binread("/proc/#{Integer(pid)}/stat").rpartition(")").last.split
      rescue SystemCallError
        nil
      end

      # The pid that it has here; nil: none.
      def self.pid_of(identity)
        @pids ||= {} # of those that were found: looking through all of /proc takes a millisecond
        key = [identity.pid, identity.namespace]
        return @pids[key] if @pids[key] && alias?(@pids[key], identity)

        all = Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i)
        @pids[key] = all.find { |candidate| alias?(candidate, identity) }
      rescue SystemCallError
        nil
      end

      # Is the process with this pid here that one, of another namespace? Numbers of namespaces are used again, too.
      def self.alias?(pid, identity)
        File.stat("/proc/#{pid}/ns/pid").ino == identity.namespace &&
          [nil, stat(pid)&.at(19).to_i].include?(identity.start_ticks) &&
          File.foreach("/proc/#{pid}/status").grep(/\ANSpid:/).any? { |line| line.split.last.to_i == identity.pid }
      rescue SystemCallError
        false
      end
    end
  end
end
