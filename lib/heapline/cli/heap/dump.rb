# frozen_string_literal: true

require_relative "../../format/progress"
require_relative "../../format/units"
require_relative "../../model/twin_inquiry"
require_relative "../command"
require_relative "../packed_file"
require_relative "../running_process"
require_relative "../waiting"

module Heapline
  module CLI
    class Heap < Command
      # `heapline heap dump PID -o FILE`: all objects of a running process, as a copy of it writes them.
      class Dump < Command
        include Waiting

        USAGE_LINE = "heap dump [options] PID -o FILE"
        SUMMARY = "Write all objects of a running process into a file; the process runs on"

        def call(argv)
          words = parse(argv)
          raise UsageError, "where to? give -o FILE" unless @options[:output]

          entry = RunningProcess.find(words, @env, dead: "it has no objects any more")
          report(entry, dump(entry))
          OK
        end

        private

        def define(parser)
          parser.on("-o", "--output FILE", "where to; .gz and .zst are packed") { |path| @options[:output] = path }
          parser.on("--gc", "a full GC in the process before, which waits for it") { @options[:gc] = true }
          define_timeout(parser)
        end

        # Model::TwinInquiry::Answer
        def dump(entry)
          answer = nil
          PackedFile.write(@options[:output]) { |file| answer = copy(entry, file) }
          answer
        end

        def copy(entry, file)
          progress = Format::Progress.new(@err)
          read = 0
          inquiry = Model::TwinInquiry.new(entry, :dump, collect: @options[:gc])
          inquiry.read(timeout: timeout, waiting: -> { say_waiting(entry) }) do |bytes|
            file.write(bytes)
            progress.call(read += bytes.bytesize, nil)
          end
        ensure
          progress&.finish
        end

        def report(entry, answer)
          bytes = Format::Units.bytes(answer.bytes)
          @out.puts "wrote #{@options[:output]}: process #{entry.pid}, #{bytes} of lines; " \
                    "its Ruby code waited #{format("%.1f", answer.pause_s * 1000)} ms for it"
        end
      end
    end
  end
end
