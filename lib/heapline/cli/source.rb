# frozen_string_literal: true

require_relative "../model"

module Heapline
  module CLI
    # What stands for counts on a command line: a PID with a flight file, or the path of a file.
    module Source
      PID = /\A\d{1,10}\z/

      # Path of the flight file (of a PID the newest one), or of the file itself. Raises FlightError.
      def self.path(word, directory)
        return word unless word.match?(PID)

        entry = directory.find(word.to_i)
        entry&.path || raise(FlightError, "process #{word} has no flight file in #{directory.path}: was it started " \
                                          "with heapline, by this user? `heapline ps` lists those that were")
      end

      # The Snapshot behind it.
      def self.read(word, directory)
        path = path(word, directory)
        without_gc { Model::Flight.read(path) }
      end

      # All that is read is kept: looking for garbage meanwhile would be a fifth of the time.
      def self.without_gc
        disabled = GC.disable
        yield
      ensure
        GC.enable unless disabled
      end
      private_class_method :without_gc
    end
  end
end
