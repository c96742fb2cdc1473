# frozen_string_literal: true

require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../processes/ledger"
require_relative "../processes/memory_map"
require_relative "../command/base"
require_relative "../command/next_steps"
require_relative "../files/output_file"
require_relative "../accounting/format"
require_relative "../accounting/run_options"
require_relative "../accounting/row"
require_relative "mwrap_dump"

module Heapline
  module Report
    # `heapline report --exit --fd N`: started by the core when the accounted program ends. The program still exists, so
    # that its RSS can be read. Options come from HEAPLINE. Everything goes to stderr or to the file asked for.
    class ExitReportCommand < Command::Base
      USAGE_LINE = "report --exit --fd N"
      SUMMARY = "Print the report at the end of a counted program (used by heapline itself)"

      def call(argv)
        parse(argv)
        raise UsageError, "--exit needs --fd N: it is what the core itself calls" unless @options[:fd]

        @settings = Accounting::RunOptions.from_env(@env["HEAPLINE"])
        @snapshot = Accounting::Flight.read(@options[:fd], wanted: Format.wanted(format_name, **rows))
        output ? write_file : show
        Command::OK
      ensure
        dump if @snapshot && @settings[:mwrap] && !@env["MWRAP"].to_s.empty?
      end

      private

      def define(parser)
        parser.on("--fd N", "descriptor of the flight file") { |value| @options[:fd] = Figures::Typed.count(value) }
      end

      # What mwrap writes at the end of a program. One with Ruby in it has done so (Mwrap).
      def dump
        dump = MwrapDump.new(@env["MWRAP"], pid: @snapshot.pid)
        return if @snapshot.ruby? || !dump.wanted?

        rows = Row.of(Native.read_flight(@options[:fd], false)[:sites])
        dump.write { |io| dump.locations { Row.dump(rows, io, dump.min) } }
      end

      def output
        @settings[:output]
      end

      def show
        return if @settings[:quiet]

        formatted(more: Command::NextSteps.for_exit(@snapshot, @settings)).render(@snapshot, @err)
      end

      def memory
        Processes::ProcessMemory.read(@snapshot.pid)
      end

      def ledger
        Processes::Ledger.read(@snapshot, alive: true, drill: format_name == "html")
      end

      # Its name.
      def format_name
        output ? Format.of_file(output) : "text"
      end

      def rows
        @settings.slice(:top, :sort, :min)
      end

      # That format, with what HEAPLINE asks for.
      def formatted(more: [])
        Format.made(format_name, memory: memory, ledger: ledger, directory: Command.here, env: @env, more: more,
                                 **rows)
      end

      def write_file
        Files::OutputFile.write(output) do |file|
          flight_file? ? copy(file) : formatted.render(@snapshot, file)
        end
        @err.puts "heapline: wrote #{output}#{hint}" unless @settings[:quiet]
      rescue Error => e
        raise e.class, "#{e.message}#{"; the counts are kept: heapline report #{@snapshot.pid}" if kept?}"
      end

      # The core leaves the flight file of a program whose report goes to a file.
      def kept?
        Accounting::FlightDirectory.new(@env).find(@snapshot.pid)
      end

      def flight_file?
        File.extname(output) == ".heapline"
      end

      def hint
        "; see it with: heapline report #{Shellwords.escape(output)}" if flight_file?
      end

      def copy(file)
        IO.copy_stream("/proc/self/fd/#{@options[:fd]}", file, @snapshot.flight_bytes)
      end
    end
  end
end
