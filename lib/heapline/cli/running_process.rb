# frozen_string_literal: true

require_relative "../errors"
require_relative "../model/flight_directory"

module Heapline
  module CLI
    # The running process that a command is about: from its PID as it was typed to its flight file.
    module RunningProcess
      # FlightDirectory::Entry. Raises UsageError where `words` are not one PID, FlightError where there is no such
      # process; `dead` is what a dead one cannot give.
      def self.find(words, env, dead:)
        pid, *others = words
        raise UsageError, "which process? give one PID" unless pid.to_s.match?(/\A\d{1,10}\z/) && others.empty?

        entry = Model::FlightDirectory.new(env).fetch(pid.to_i)
        return entry if entry.alive?

        raise FlightError, "process #{pid} is dead: #{dead}; what it held last: heapline report #{pid}"
      end
    end
  end
end
