# frozen_string_literal: true

require "etc"
require_relative "../clock"
require_relative "../errors"
require_relative "../accounting/flight_directory"
require_relative "../accounting/process_identity"
require_relative "../command/installation"
require_relative "../files/input"
require "heapline/native"
require_relative "loaded_code"
require_relative "machine"

module Heapline
  module Attach
    # A process that is to be counted from now on, or no more. `check` looks, without touching the process, for all that
    # keeps heapline out of it, and says what to do.
    class Target
      KERNEL_THREAD = 0x200000 # PF_KTHREAD, in /proc/PID/stat
      PTRACE = 19 # CAP_SYS_PTRACE
      STEP = 0.005
      STATES = {
        "T" => "is stopped; SIGCONT lets it go on",
        "D" => "waits in the kernel, for a device or a child (state D), where nothing can stop it; try again later",
        "Z" => "is dead: its parent has not waited for it",
        "X" => "is dead"
      }.freeze

      STARTING = "has only just begun: its loader has not loaded the C library yet; try again"
      VFORKED = "runs in its parent's memory, until it begins a program of its own (vfork); try again later"
      PASSING = [STATES["D"], STARTING, VFORKED].freeze

      # `memory`: File of its /proc/PID/mem, opened before its `code` was read (see Call).
      attr_reader :pid, :memory, :code

      def initialize(pid, env)
        @pid = pid
        @env = env
      end

      # As people call it: the first word of its command line, "puma" of "puma: cluster worker 0".
      def name
        words = File.binread("/proc/#{pid}/cmdline").split(/[\0 ]/n)
        File.basename(words.first&.delete_suffix(":") || status["Name"].to_s).force_encoding(Encoding::UTF_8).scrub
      rescue SystemCallError
        status["Name"].to_s
      end

      # Raises Error: what keeps heapline out, and the remedy. What runs other programs waits for each of them for a
      # moment (vfork, state D), and what has only just begun is not whole yet: that is waited for until `limit`
      # (Clock.now).
      def check(limit = 0)
        examine(limit) { program_reason }
      end

      # The same for a process in which nothing is to be counted: it is stopped, and one of its threads makes a call.
      def check_stoppable(limit = 0)
        examine(limit) { code_reason }
      end

      # Has it ended? Its files go before its state says so.
      def gone?
        state = Accounting::ProcessIdentity.stat(pid)&.first
        return true if state.nil? || "ZX".include?(state)

        File.readlink("/proc/#{pid}/exe")
        false
      rescue Errno::ENOENT, Errno::ESRCH
        true
      rescue SystemCallError
        false
      end

      private

      def examine(limit, &)
        while (reason = process_reason || permission_reason || reading(&))
          raise Error, "process #{pid} #{reason}" unless PASSING.include?(reason) && Clock.now < limit

          sleep STEP
          @status = nil
        end
        self
      end

      # What the block found out of the process's files, unless it ended meanwhile: then these tell nothing.
      def reading
        reason = yield
        reason && gone? ? "ended" : reason
      rescue SystemCallError, Error
        raise unless gone?

        "ended"
      end

      # ---- what it is ----

      def process_reason
        fields = Accounting::ProcessIdentity.stat(pid) or return "is not there#{others}"
        return "is this very command" if pid == Process.pid
        return "is a thread of the kernel" if fields[6].to_i.anybits?(KERNEL_THREAD)
        return "is a thread of process #{status["Tgid"]}: give that one" if status["Tgid"].to_i != pid

        traced_reason || STATES[fields[0]]
      end

      def traced_reason
        tracer = status["TracerPid"].to_i
        return if tracer.zero?

        "is traced by process #{tracer} (#{comm(tracer)}): one tracer at a time; end that first"
      end

      def others
        pids = Accounting::FlightDirectory.new(@env).counted
        pids.empty? ? "" : "; heapline counts #{pids.join(", ")}"
      end

      # ---- may we ----

      # /proc/PID/mem may be opened by those alone who may trace the process.
      def permission_reason
        @memory&.close
        @memory = File.open("/proc/#{pid}/mem", "rb")
        nil
      rescue Errno::ESRCH
        "ended"
      rescue Errno::EACCES, Errno::EPERM
        "may not be traced by this user: #{forbidden_because}"
      rescue SystemCallError => e
        "cannot be looked at: #{Error.reason(e)}"
      end

      def forbidden_because
        return "it belongs to #{owner}; be that user, or root" if foreign? && !Process.euid.zero?
        return "root of a container without CAP_SYS_PTRACE; docker run --cap-add SYS_PTRACE" unless may_trace_all?

        scope = yama
        return "it has capabilities that this command lacks; be root outside of this container" if scope.zero?
        return "Yama allows it to no one (kernel.yama.ptrace_scope is 3, until the next boot)" if scope == 3

        "kernel.yama.ptrace_scope is #{scope}; be root, or: sysctl kernel.yama.ptrace_scope=0"
      end

      def foreign?
        status["Uid"].to_s.split.uniq != [Process.euid.to_s]
      end

      def owner
        Etc.getpwuid(status["Uid"].to_i).name
      rescue ArgumentError
        "user #{status["Uid"].to_i}"
      end

      # Has this command the capability, where it is root's?
      def may_trace_all?
        !Process.euid.zero? || File.read("/proc/self/status")[/^CapEff:\s*(\h+)/, 1].to_s.hex[PTRACE] == 1
      end

      def yama
        File.read("/proc/sys/kernel/yama/ptrace_scope").to_i
      rescue SystemCallError
        0
      end

      # ---- what runs in it ----

      def program_reason
        reason = machine_reason and return reason

        @code = LoadedCode.new(pid)
        reason = passing and return reason
        return "has musl as its C library; heapline needs glibc there" if @code.musl?
        return "is linked statically: nothing can be loaded into it; start it with heapline" unless loads?

        allocator_reason || namespace_reason
      end

      def code_reason
        reason = machine_reason and return reason

        @code = LoadedCode.new(pid)
        reason = passing and return reason
        return "does not use the GNU C library; gcore can dump it" unless @code.libc

        "runs with a #{@code.libc.name} that an update has replaced; gcore can dump it" if @code.libc.gone
      end

      def machine_reason
        head = Input.beginning("/proc/#{pid}/exe", 20)
        return if head.start_with?("\x7FELF\x02".b) && head.unpack1("@18S<") == Machine.here.elf

        "is no program for #{Machine.here.name}"
      end

      # What will soon be otherwise.
      def passing
        return STARTING if @code.loader && !@code.libc && !@code.musl?

        VFORKED if vforked?
      end

      # Does it run in its parent's memory, until it begins a program of its own?
      def vforked?
        parent = Accounting::ProcessIdentity.stat(pid)&.at(1).to_i
        parent.positive? && Native.same_memory?(pid, parent)
      end

      def loads?
        @code.libc && @code.loader && @code.has?("dlopen")
      end

      def allocator_reason
        allocator = @code.allocators.first
        return "runs with a #{@code.libc.name} that an update has replaced: start it again" if @code.libc.gone
        return unless allocator && !@code.libraries.include?(allocator)

        "has its allocator linked into #{File.basename(allocator.name)}: its calls cannot be redirected; start it " \
          "with another allocator"
      end

      # A library is loaded by its path, as the process sees it; where it sees other files, from memory, by /proc.
      def namespace_reason
        path = Command::Installation.core
        return if @code.core || File.identical?(path, "/proc/#{pid}/root#{path}")
        return if @code.has?("memfd_create") && File.exist?("/proc/#{pid}/root/proc/version")

        "sees other files than this command (a container), and no /proc: run heapline inside, as in: " \
          "docker exec … heapline"
      end

      def status
        @status ||= File.read("/proc/#{pid}/status").scan(/^(\w+):\s*(.*)$/).to_h
      rescue SystemCallError
        @status = {}
      end

      def comm(pid)
        File.read("/proc/#{pid}/comm").chomp
      rescue SystemCallError
        "?"
      end
    end
  end
end
