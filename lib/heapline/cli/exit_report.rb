# frozen_string_literal: true

require_relative "../model"
require_relative "command"
require_relative "next_steps"
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
        text.render(@snapshot, @err) unless @settings[:quiet]
      end

      def memory
        Model::ProcessMemory.read(@snapshot.pid)
      end

      def text(more: NextSteps.for_exit(@snapshot, @settings))
        require_relative "../format/text"
        shown = { top: 20 }.merge(@settings.slice(:top, :sort, :min))
        Format::Text.new(memory: memory, directory: Dir.pwd, env: @env, more: more, **shown)
      end

      def json
        require_relative "../format/json"
        shown = @settings.slice(:top, :min)
        shown[:sort] = Format::Columns.fetch(@settings[:sort]).figure if @settings[:sort]
        Format::Json.new(memory: memory, **shown)
      end

      def write_file
        case File.extname(output)
        when ".heapline" then copy
        when ".json" then File.open(output, "w") { |file| json.render(@snapshot, file) }
        else File.open(output, "w") { |file| text(more: []).render(@snapshot, file) }
        end
        @err.puts "heapline: wrote #{output}#{hint}" unless @settings[:quiet]
      rescue SystemCallError => e
        raise Error, "the report cannot be written to #{output}: #{e.message}"
      end

      def hint
        "; see it with: heapline report #{Shellwords.escape(output)}" if File.extname(output) == ".heapline"
      end

      # The flight file names files and methods of the program: the owner's alone.
      def copy
        File.open(output, File::WRONLY | File::CREAT | File::TRUNC, 0o600) do |file|
          file.chmod(0o600)
          IO.copy_stream("/proc/self/fd/#{@options[:fd]}", file, @snapshot.flight_bytes)
        end
      end
    end
  end
end
