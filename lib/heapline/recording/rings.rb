# frozen_string_literal: true

require_relative "../clock"
require_relative "../accounting/process_identity"
require_relative "../extension"

module Heapline
  class Recording
    # Where rings lie: beside the flight files, under the same name.
    class Rings
      NAME = /\A#{Accounting::ProcessIdentity::STEM}\.ring\z/
      # The name of the one process that is recorded, of those that a command starts (see record_wish.h).
      CLAIM = /\A(\d{1,10})\.recorded\z/
      # The name of what a process leaves that was to be recorded, and has said why it cannot be (see record_wish.h).
      REFUSED = /\A(\d{1,10})\.refused\z/
      # The name of a ring that this process, a drain, has taken and not opened yet.
      TAKEN = /\A(\d{1,10})\.taken\z/
      # Seconds within which a process completes a ring that has its name.
      COMPLETION = 1.0

      # The process that a ring belongs to.
      def self.process(path)
        Accounting::ProcessIdentity.of_stem(File.basename(path).match(NAME))
      end

      # The flight file of that process.
      def self.flight(path)
        path.sub(/\.ring\z/, ".flight")
      end

      # Give the ring that has this path now a name that no process uses; that path. The process that made it may
      # execute another program at any time, whose ring has the first name again. Raises SystemCallError where there is
      # none any more.
      def self.take(path)
        taken = File.join(File.dirname(path), "#{Process.pid}.taken")
        File.rename(path, taken)
        limit = Clock.now + COMPLETION
        sleep 0.001 until Native::Drain.asked_by(taken) || Clock.now >= limit
        taken
      end

      # Nobody will drain this one: the process shall not wait for it.
      def self.refuse(path)
        require_relative "../accounting/flight" # here, and not before each program that is recorded
        Accounting::Flight.request_record(flight(path), on: false)
        File.unlink(path)
      rescue FlightError, SystemCallError
        nil
      end

      # The ring that the process of this flight file makes when it is asked to.
      def self.beside(flight)
        flight.sub(/\.flight\z/, ".ring")
      end

      # directory: of the flight files.
      def initialize(directory)
        @directory = directory
      end

      # Paths of rings that were made for `drain`, a pid, and that nobody has taken yet.
      def asked_by(drain)
        names(NAME).map { |name| File.join(@directory, name) }.select { |path| Native::Drain.asked_by(path) == drain }
      end

      # Has a process that was to be recorded by `drain` said why it cannot be?
      def refused?(drain)
        File.file?(File.join(@directory, "#{drain}.refused"))
      end

      # Remove what processes left that were killed, and what `drain` left.
      def sweep(drain = nil)
        names(NAME).each do |name|
          process = self.class.process(name)
          remove(name) unless process.alive? || process.out_of_sight?
        end
        names(Regexp.union(CLAIM, REFUSED, TAKEN)).each do |name|
          pid = name.to_i
          remove(name) if pid == drain || !Accounting::ProcessIdentity.of(pid)
        end
      end

      private

      def names(pattern)
        Dir.children(@directory).grep(pattern)
      rescue SystemCallError
        []
      end

      def remove(name)
        File.unlink(File.join(@directory, name))
      rescue SystemCallError
        nil
      end
    end
  end
end
