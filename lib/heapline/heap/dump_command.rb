# frozen_string_literal: true

require_relative "../terminal/progress"
require_relative "../figures/units"
require_relative "../processes/twin_inquiry"
require_relative "../command/base"
require_relative "../files/output_file"
require_relative "../processes/running_process"

module Heapline
  module Heap
    # `heapline heap dump PID -o FILE`: all objects of a running process, as a copy of it writes them.
    class DumpCommand < Command::Base
      include Processes::RunningProcess

      USAGE_LINE = "heap dump [options] PID -o FILE"
      SUMMARY = "Write all objects of a running process into a file; the process runs on"

      def call(argv)
        words = parse(argv)
        raise UsageError, "where to? give -o FILE" unless @options[:output]

        entry = Processes::RunningProcess.find(words, @env, dead: "it has no objects any more", ruby: true)
        report(entry, dump(entry))
        Command::OK
      end

      private

      def define(parser)
        parser.on("-o", "--output FILE", "write to FILE; .gz and .zst are packed") { |path| @options[:output] = path }
        parser.on("--gc", "run a full GC in the process first; it waits for that") { @options[:gc] = true }
        define_timeout(parser)
      end

      # Processes::TwinInquiry::Answer
      def dump(entry)
        answer = nil
        Files::OutputFile.pack(@options[:output]) { |file| answer = copy(entry, file) }
        answer
      end

      def copy(entry, file)
        progress = Terminal::Progress.new(@err)
        read = 0
        inquiry = Processes::TwinInquiry.new(entry, :dump, collect: @options[:gc])
        inquiry.read(timeout: timeout, waiting: ->(why) { say_waiting(entry, why) }) do |bytes|
          file.write(bytes)
          progress.call(read += bytes.bytesize, nil)
        end
      ensure
        progress&.finish
      end

      def report(entry, answer)
        bytes = Units.bytes(answer.bytes)
        @out.puts "wrote #{@options[:output]}: process #{entry.pid}, #{bytes} of lines; " \
                  "its Ruby code waited #{format("%.1f", answer.pause_s * 1000)} ms for it"
      end
    end
  end
end
