# frozen_string_literal: true

require_relative "../errors"
require_relative "flight"
require_relative "process_memory"

module Heapline
  module Model
    # A process that left a flight file, and what is known of it. entry: FlightDirectory::Entry; snapshot: Snapshot, and
    # memory: ProcessMemory while it runs; or problem: why the file cannot be read (String). Frozen.
    KnownProcess = Struct.new(:entry, :snapshot, :memory, :problem, keyword_init: true) do
      def self.read(entry)
        snapshot = Flight.read(entry.path)
        new(entry: entry, snapshot: snapshot,
            memory: (ProcessMemory.read(entry.pid) if snapshot.state == :running))
      rescue FlightError => e
        new(entry: entry, problem: e.message)
      end

      def initialize(**fields)
        super
        freeze
      end
    end
  end
end
