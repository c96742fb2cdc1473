# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "heapline/model"
require "support/snapshots"
require "heapline/format/process_list"

module Heapline
  module Format
    class ProcessListTest < Minitest::Test
      include Snapshots

      def rows
        entry = Model::FlightDirectory::Entry.new(path: "/d/1-1.flight", process: Model::ProcessIdentity.new(4711, 1))
        memory = Model::ProcessMemory.new(rss_bytes: 99_000_000)
        [Model::KnownProcess.new(entry: entry, snapshot: leaky, memory: memory),
         Model::KnownProcess.new(entry: entry, problem: "it is\e[2J damaged")]
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
        assert_match(%r{no process is under accounting \(/d has no flight files\)}, render(:render, []))
      end

      def test_json
        data = JSON.parse(render(:render_json, rows))
        assert_equal [52_220_000, 99_000_000, 13.0],
                     data["processes"][0].values_at("live_bytes", "rss_bytes", "age_seconds")
        assert_match(/damaged/, data["processes"][1]["problem"])
      end
    end
  end
end
