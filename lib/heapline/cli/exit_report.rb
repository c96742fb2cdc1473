# frozen_string_literal: true

require_relative "../model"
require_relative "command"
require_relative "next_steps"
require_relative "output_file"
require_relative "rendering"
require_relative "run_options"

module Heapline
  module CLI
    # `heapline report --exit --fd N`: started by the core when the accounted program ends. The program still exists, so
    # that its RSS can be read. Options come from HEAPLINE. Everything goes to stderr or to the file asked for.
    class ExitReport < Command
      USAGE_LINE = "report --exit --fd N"
      SUMMARY = "Print the report at the end of an accounted program (used by heapline itself)"

      def call(argv)
        parse(argv)
        raise UsageError, "--exit needs --fd N: it is what the core itself calls" unless @options[:fd]

        @settings = RunOptions.from_env(@env["HEAPLINE"])
        @snapshot = Model::Flight.read(@options[:fd])
        output ? write_file : show
        OK
      end

      private

      def define(parser)
        parser.on("--fd N", "descriptor of the flight file") { |value| @options[:fd] = Size.count(value) }
      end

      def output
        @settings[:output]
      end

      def show
        return if @settings[:quiet]

        format_named("text", more: NextSteps.for_exit(@snapshot, @settings)).render(@snapshot, @err)
      end

      def memory
        Model::ProcessMemory.read(@snapshot.pid)
      end

      def ledger(name)
        Model::Ledger.read(@snapshot, alive: true, drill: name == "html")
      end

      # The format of this name, with what HEAPLINE asks for.
      def format_named(name, more: [])
        Rendering.format(name, memory: memory, ledger: ledger(name), directory: Dir.pwd, env: @env, more: more,
                               **@settings.slice(:top, :sort, :min))
      end

      def write_file
        OutputFile.write(output) do |file|
          flight_file? ? copy(file) : format_named(Format.of_file(output)).render(@snapshot, file)
        end
        @err.puts "heapline: wrote #{output}#{hint}" unless @settings[:quiet]
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
