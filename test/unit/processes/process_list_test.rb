# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "support/snapshots"
require "heapline/accounting/flight_directory"
require "heapline/processes/process_list"
require "tmpdir"
require "support/flight_builder"

module Heapline
  module Processes
    class ProcessListTest < Minitest::Test
      include Snapshots

      def rows
        entry = Accounting::FlightDirectory::Entry.new(path: "/d/1-1.flight",
                                                       process: Accounting::ProcessIdentity.new(
                                                         4711, 1
                                                       ))
        memory = ProcessMemory.new(rss_bytes: 99_000_000)
        [KnownProcess.new(entry: entry, snapshot: leaky, memory: memory),
         KnownProcess.new(entry: entry, problem: "it is\e[2J damaged")]
      end

      def render(method, rows)
        io = StringIO.new
        ProcessList.new(directory: "/d", env: {}).public_send(method, rows, io)
        io.string
      end

      def test_text
        assert_equal <<~TEXT, render(:render, rows)
           pid   state     age      live    growth       RSS  command
          4711  exited  13.0 s  52.22 MB  52.22 MB  99.00 MB  ruby leak.rb
          4711  unreadable: it is\\x1B[2J damaged
        TEXT
      end

      def test_an_empty_list_says_so
        assert_match(%r{no process is counted \(/d has no flight files\)}, render(:render, []))
      end

      def test_json
        data = JSON.parse(render(:render_json, rows))
        assert_equal [52_220_000, 99_000_000, 13.0],
                     data["processes"][0].values_at("live_bytes", "rss_bytes", "age_seconds")
        assert_match(/damaged/, data["processes"][1]["problem"])
      end
    end

    class KnownProcessTest < Minitest::Test
      Entry = Struct.new(:path, :pid) do
        def alive?
          pid == Process.pid
        end
      end

      def read(**header)
        Dir.mktmpdir do |directory|
          path = FlightBuilder.new(**header).write(File.join(directory, "1-1.flight"))
          KnownProcess.read(Entry.new(path, header.fetch(:pid)))
        end
      end

      def test_one_that_runs
        ticks = Accounting::ProcessIdentity.of(Process.pid).start_ticks
        known = read(pid: Process.pid, start_ticks: ticks, state: 1, ended_ns: 0)
        assert_equal :running, known.snapshot.state
        assert_operator known.memory.rss_bytes, :>, 1_000_000
        assert_nil known.problem
      end

      # A file may tell of a million lines; a list looks at none.
      def test_its_sums_are_those_of_all_lines
        Dir.mktmpdir do |directory|
          builder = FlightBuilder.new(pid: 4711, start_ticks: 1)
          builder.lane(0)
          [100, 50, 7, 2, 1].each_with_index do |bytes, line|
            site = builder.ruby_site("a.rb", line)
            builder.count(0, site, allocations: 1, bytes_allocated: bytes)
            builder.object(site, "Page", allocated: 1)
          end
          path = builder.write(File.join(directory, "1-1.flight"))
          known = KnownProcess.read(Entry.new(path, 4711)).snapshot
          sums = %i[live_bytes growth_bytes retained_bytes live_blocks]
          assert_equal([160, 160, 160, 5], sums.map { |name| known.public_send(name) })
          assert_equal [true, nil], [known.none? { |site| site.kind == :ruby && site.location.path }, known.objects]
        end
      end

      def test_a_dead_one_has_no_memory
        known = read(pid: 4711, start_ticks: 1)
        assert_equal [4711, nil], [known.snapshot.pid, known.memory]
      end

      def test_a_file_that_cannot_be_read
        known = KnownProcess.read(Entry.new("/nowhere/1-1.flight", 1))
        assert_nil known.snapshot
        assert_match(/No such file/, known.problem)
      end
    end
  end
end
