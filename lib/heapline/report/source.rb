# frozen_string_literal: true

require_relative "../command/base"
require_relative "../files/input"
require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../processes/takeover"

module Heapline
  # @api private
  module Report
    # What stands for counts on a command line: a PID with a flight file, or the path of a flight file, of a
    # report in JSON, of a growth log, or of a capture.
    module Source
      LOG = :log
      # So much of a first line tells whether it is a log's.
      LINE = 4096
      # The first bytes of a capture.
      CAPTURE = "heapline-capture"
      # The first line of a heap dump.
      HEAP_DUMP = /\A\{"(?:type|address|root)":/
      CORE = "\x7FELF".b
      CORE_TYPE = [4].pack("S<") # at byte 16

      # Path of the flight file (of a PID the newest one), or of the file itself. Raises FlightError.
      def self.path(word, directory)
        return word unless word.match?(Command::Base::PID)

        Processes::Takeover.await([directory.fetch(word.to_i)]).first.path
      end

      # The Snapshot behind it: of a flight file, of a report in JSON, or of the end of a growth log. wanted: what is
      # enough of a flight file (Accounting::Flight::Wanted).
      def self.read(word, directory, wanted: nil)
        path = path(word, directory)
        case found = beginning(path)
        when LOG then log(path)
        when "{" then json(path)
        when String then raise InputError, "#{path} #{found}"
        else without_gc { Accounting::Flight.read(path, wanted: wanted) }
        end
      end

      # "{" for JSON, LOG for a growth log, also where it is packed; in words what holds no counts; nil: who knows.
      def self.beginning(path)
        return logs?(path) ? LOG : "is a directory" if File.directory?(path)
        return unless Input.file?(path)

        head = Input.open(path, pipe: false, &:chunk).to_s.byteslice(0, LINE)
        return LOG if head.lines.first.to_s.include?('"heapline-growth/')

        stranger(head, path) || ("{" if head.start_with?("{"))
      rescue InputError
        nil
      end

      # Is there a growth log in that directory?
      def self.logs?(path)
        require_relative "../growth/reader"
        Dir.children(path).grep(GrowthReader::Source::LOG_NAME).any? do |name|
          file = File.join(path, name)
          File.file?(file) && beginning(file) == LOG
        end
      rescue SystemCallError
        false
      end

      # What it is, in words, and which command reads it.
      def self.stranger(head, path)
        return "is empty" if head.empty?
        return "is a heap dump: heapline heap histo #{path}" if head.match?(HEAP_DUMP)
        return program(head, path) if head.start_with?(CORE)

        "is a text without counts of heapline" if !head.start_with?("{", "HEAPLINE") && head.match?(/\A[\t-\r -~]*\z/n)
      end

      def self.program(head, path)
        head.byteslice(16, 2) == CORE_TYPE ? "is a core file: heapline core #{path}" : "is a program or library"
      end

      # Is it the path of a capture?
      def self.capture?(word)
        !word.match?(Command::Base::PID) && Input.beginning(word, CAPTURE.bytesize) == CAPTURE
      end

      # Is it the path of a growth log, or of a directory of those?
      def self.log?(word)
        !word.match?(Command::Base::PID) && beginning(word) == LOG
      end

      # The Growth::History in a log, by: :site, :file, :gem, :library or :tag. Raises Error where it has no line.
      def self.growth(path, by: :site)
        require_relative "../growth/reader"
        growth = GrowthReader.new([path], by: by).read
        raise Error, "no line of a growth log in #{path}#{GrowthReader.reason(growth)}" if growth.processes.empty?

        growth
      end

      def self.log(path)
        growth(path).snapshot
      end

      def self.json(path)
        require_relative "../accounting/json"
        kind = "a report in JSON; heapline snapshot keeps counts in a smaller file"
        Accounting::JsonReport.parse(Input.text(path, most: Input::MOST, kind: kind), path)
      end

      # All that is read is kept: looking for garbage meanwhile would be a fifth of the time.
      def self.without_gc
        disabled = GC.disable
        yield
      ensure
        GC.enable unless disabled
      end
      private_class_method :beginning, :logs?, :stranger, :program, :log, :json, :without_gc
    end
  end
end
