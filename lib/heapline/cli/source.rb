# frozen_string_literal: true

require_relative "../model"

module Heapline
  module CLI
    # What stands for counts on a command line: a PID with a flight file, or the path of a flight file, of a
    # report in JSON, of a growth log, or of a capture.
    module Source
      LOG = :log
      # So much of a first line tells whether it is a log's.
      LINE = 4096
      PID = /\A\d{1,10}\z/
      # The first bytes of a capture.
      CAPTURE = "heapline-capture"

      # Path of the flight file (of a PID the newest one), or of the file itself. Raises FlightError.
      def self.path(word, directory)
        word.match?(PID) ? directory.fetch(word.to_i).path : word
      end

      # The Snapshot behind it: of a flight file, of a report in JSON, or of the end of a growth log.
      def self.read(word, directory)
        path = path(word, directory)
        case beginning(path)
        when LOG then log(path)
        when "{" then json(path)
        else without_gc { Model::Flight.read(path) }
        end
      end

      # "{" for JSON, LOG for a growth log.
      def self.beginning(path)
        return LOG if File.directory?(path)
        return unless File.file?(path) && File.binread(path, 1) == "{"

        File.open(path, "rb") { |file| file.gets("\n", LINE).include?('"heapline-growth/') } ? LOG : "{"
      rescue SystemCallError
        nil
      end

      # Is it the path of a capture?
      def self.capture?(word)
        !word.match?(PID) && File.file?(word) && File.binread(word, CAPTURE.bytesize) == CAPTURE
      rescue SystemCallError
        false
      end

      # Is it the path of a growth log, or of a directory of those?
      def self.log?(word)
        !word.match?(PID) && beginning(word) == LOG
      end

      # The Model::Growth in a log, by: :site, :file, :gem, :library or :tag. Raises Error where it has no line.
      def self.growth(path, by: :site)
        require_relative "../growth_reader"
        growth = GrowthReader.new([path], by: by).read
        raise Error, "no line of a growth log in #{path}" if growth.processes.empty?

        growth
      end

      def self.log(path)
        require_relative "../model/growth_snapshot"
        Model::GrowthSnapshot.of(growth(path))
      end

      def self.json(path)
        require_relative "../model/json_report"
        Model::JsonReport.parse(File.read(path, encoding: "UTF-8"), path)
      end

      # All that is read is kept: looking for garbage meanwhile would be a fifth of the time.
      def self.without_gc
        disabled = GC.disable
        yield
      ensure
        GC.enable unless disabled
      end
      private_class_method :beginning, :log, :json, :without_gc
    end
  end
end
