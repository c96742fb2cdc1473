# frozen_string_literal: true

require "tempfile"
require_relative "../accounting/flight_directory"
require_relative "../attach/call"
require_relative "../attach/machine"
require_relative "../attach/target"
require_relative "../clock"
require_relative "../command/base"
require_relative "../figures/typed"
require_relative "../figures/units"
require_relative "../files/output_file"
require_relative "../heap/dump_command"
require_relative "../processes/takeover"
require_relative "../terminal/progress"
require_relative "core_writer"

module Heapline
  module Corefile
    # `heapline dump PID -o FILE`: the core of a process that runs on, as a copy of it has it.
    class DumpCommand < Command::Base
      USAGE_LINE = "dump [options] PID -o FILE"
      SUMMARY = "Write the memory of a running process into a core file; the process runs on"
      TIMEOUT = 10.0
      PAUSE = 0.002 # seconds, before it is tried again
      REASONS = {
        Errno::EAGAIN => "it may start no more processes (ulimit -u, or pids.max of its group)",
        Errno::ENOMEM => "there is no memory for it (vm.overcommit_memory)",
        Errno::EPERM => "ptrace is forbidden here; in a container: docker run --cap-add SYS_PTRACE",
        Errno::ESRCH => "it ended",
        Errno::ESTALE => "it has begun another program; try again",
        Errno::E2BIG => "it has more than 65,536 threads",
        Errno::ECHILD => "it took too long to stop all its threads"
      }.freeze

      def call(argv)
        words = parse(argv)
        return objects(words) if @options[:objects]

        pid = Command.pid(words)
        raise UsageError, "where to? give -o FILE" unless @options[:output]
        raise UsageError, "--gc needs --objects: a core shows the process as it is" if @options[:gc]

        dump(pid)
        Command::OK
      end

      private

      def define(parser)
        parser.on("-o", "--output FILE", "write to FILE; .gz and .zst are packed") { |path| @options[:output] = path }
        parser.on("--objects", "its Ruby objects instead, as heapline heap dump writes them") do
          @options[:objects] = true
        end
        parser.on("--gc", "with --objects: run a full GC in the process first") { @options[:gc] = true }
        parser.on("--timeout S", "wait S seconds for a safe moment (#{format("%g", TIMEOUT)})") do |value|
          @options[:timeout] = Figures::Typed.seconds(value, zero: true)
        end
      end

      def objects(words)
        options = @options.slice(:output, :timeout).flat_map { |name, value| ["--#{name}", value.to_s] }
        options << "--gc" if @options[:gc]
        Heap::DumpCommand.new(env: @env, out: @out, err: @err).call([*words, *options])
      end

      def dump(pid)
        limit = Clock.now + @options.fetch(:timeout, TIMEOUT)
        @target = Attach::Target.new(pid, @env).check_stoppable(limit)
        with_flight(pid) do |flight|
          while (obstacle = copy(flight))
            wait(obstacle, limit)
          end
        end
      rescue SystemCallError => e
        refuse("cannot be copied: #{REASONS.fetch(e.class) { Error.reason(e) }}")
      end

      # obstacle: :unsafe, or a thread that waits in the kernel; all others run on until it comes back.
      def wait(obstacle, limit)
        loop do
          refuse_for(obstacle) if Clock.now >= limit
          sleep PAUSE
          break unless obstacle.is_a?(Integer) && Accounting::ProcessIdentity.stat(obstacle)&.first == "D"
        end
      end

      def refuse_for(obstacle)
        refuse("came to no safe moment (its threads are in signal handlers); try again") if obstacle == :unsafe
        refuse("cannot be copied: its thread #{obstacle} #{Attach::Target::STATES["D"]}")
      end

      def refuse(reason)
        raise Error, "process #{@target.pid} (#{@target.name}) #{reason}"
      end

      # [File of its flight file, File for the copy], or nil: it has none.
      def with_flight(pid)
        file = flight_file(pid) or return yield
        Tempfile.create("heapline") do |copy|
          File.unlink(copy.path)
          yield [file, copy]
        end
      ensure
        file&.close
      end

      def flight_file(pid)
        entry = Accounting::FlightDirectory.new(@env).find(pid)
        File.open(Processes::Takeover.await([entry]).first.path, "rb") if entry&.alive?
      rescue Errno::ENOENT
        nil # it has just gone
      end

      def copy(flight)
        Native.copy_process(@target.pid, @target.memory, code,
                            *(flight || [nil, nil])) do |pid, threads, stopped_ns, flight_bytes|
          kept = flight && flight_bytes.positive? ? [flight[1], flight_bytes, flight[0].stat] : nil
          say(write(CoreWriter.new(pid, pid: @target.pid, threads: threads, flight: kept)), stopped_ns)
        end
      end

      # Bytes of memory.
      def write(writer)
        progress = Terminal::Progress.new(@err)
        written = bytes = 0
        Files::OutputFile.pack(@options[:output]) do |file|
          bytes = writer.write(file) { |more| progress.call(written += more, nil) }
        end
        bytes
      ensure
        progress&.finish
      end

      def say(bytes, stopped_ns)
        process = "process #{@target.pid} (#{@target.name})"
        @out.puts "wrote #{@options[:output]}: #{process}, #{Units.bytes(bytes)} of memory; it stood still for " \
                  "#{format("%.1f", stopped_ns / 1e6)} ms; next: heapline core #{@options[:output]}"
      end

      def code
        libc = @target.code.libc
        machine = Attach::Machine.here
        found = [@target.code.find(machine.system_call), @target.code.find(machine.returning), libc.address_of("_exit")]
        found.all? ? found : refuse("has an unknown C library")
      end
    end
  end
end
