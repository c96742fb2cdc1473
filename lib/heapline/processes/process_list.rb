# frozen_string_literal: true

require_relative "../frozen"
require_relative "../terminal/display_width"
require_relative "../terminal/inert"
require_relative "../terminal/output"
require_relative "../figures/units"
require_relative "../table/json_object"
require_relative "../errors"
require_relative "../accounting/flight"
require_relative "memory_map"

module Heapline
  module Processes
    # The list of `heapline ps`, as aligned text or as JSON.
    class ProcessList
      include Table::JsonObject

      TITLES = %w[pid state age live growth RSS].freeze
      UNCOUNTED = "not counted"

      # In words. One that runs, and in which counting has ended, is still there with what it held then.
      def self.state(snapshot)
        snapshot.state == :running && snapshot.stopped_at ? UNCOUNTED : snapshot.state.to_s
      end

      def initialize(directory:, env: ENV)
        @directory = directory
        @env = env
      end

      # rows: Array of Processes::KnownProcess. One line a process, the newest first.
      def render(rows, io)
        @terminal = Terminal::Output.new(io, @env)
        return io.puts("no process is counted (#{@terminal.inert(@directory)} has no flight files)") if rows.empty?

        good, bad = rows.partition(&:snapshot)
        table(good).each { |line| io.puts line } unless good.empty?
        bad.each { |row| io.puts @terminal.inert("#{row.entry.pid}  unreadable: #{row.problem}") }
      end

      # {"schema_version":1, "directory":…, "processes":[{pid, state, command, age_seconds, live_bytes, …}]}
      def render_json(rows, io)
        require "json"
        data = { schema_version: 1, directory: Inert.valid(@directory), processes: rows.map do |row|
          json_row(row)
        end }
        io.puts JSON.pretty_generate(data, ascii_only: true)
      end

      private

      def table(rows)
        cells = [TITLES] + rows.map { |row| figures(row) }
        widths = cells.transpose.map { |column| column.map(&:length).max }
        commands = ["command", *rows.map { |row| @terminal.inert(row.snapshot.command.join(" ")) }]
        cells.zip(commands).map do |line, command|
          text = line.each_with_index.map { |cell, i| cell.rjust(widths[i]) }.join("  ")
          Terminal::DisplayWidth.first("#{text}  #{command}", @terminal.width).rstrip
        end
      end

      def figures(row)
        snapshot = row.snapshot
        [row.entry.pid.to_s, ProcessList.state(snapshot), age(snapshot), Units.bytes(snapshot.live_bytes),
         Units.bytes(snapshot.growth_bytes), row.memory ? Units.bytes(row.memory.rss_bytes) : "-"]
      end

      def age(snapshot)
        snapshot.started_at ? Units.duration([snapshot.taken_at - snapshot.started_at, 0].max) : "-"
      end

      def json_row(row)
        snapshot = row.snapshot
        base = { pid: row.entry.pid, file: Inert.valid(row.entry.path),
                 problem: row.problem && Inert.valid(row.problem) }
        return base unless snapshot

        base.merge(state: snapshot.state, stopped_at: time(snapshot.stopped_at),
                   command: snapshot.command.map { |word| Inert.valid(word) },
                   forked_from_pid: snapshot.forked_from,
                   age_seconds: snapshot.started_at && (snapshot.taken_at - snapshot.started_at).round(3),
                   live_bytes: snapshot.live_bytes, growth_bytes: snapshot.growth_bytes,
                   retained_bytes: snapshot.retained_bytes, rss_bytes: row.memory&.rss_bytes)
      end
    end

    # A process that left a flight file, and what is known of it. entry: FlightDirectory::Entry; snapshot: Snapshot, and
    # memory: ProcessMemory while it runs; or problem: why the file cannot be read (String). Frozen.
    KnownProcess = Struct.new(:entry, :snapshot, :memory, :problem, keyword_init: true) do
      # One for each of these.
      def self.all(entries)
        Accounting::Flight.together { entries.map { |entry| read(entry) } }
      end

      def self.read(entry)
        snapshot = Accounting::Flight.totals(entry.path)
        memory = ProcessMemory.read(entry.pid) if snapshot.state == :running
        new(entry: entry, snapshot: snapshot, memory: (memory if entry.alive?)) # the pid may be another's by now
      rescue FlightError => e
        new(entry: entry, problem: e.message)
      end

      include Frozen
    end
  end
end
