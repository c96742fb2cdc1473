# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/top/top_command"
require "heapline/top/stage"

module Heapline
  module Top
    class TopCommandTest < Minitest::Test
      include CliHelper

      def top(*words)
        heapline("top", "--once", "--every", "0.05", *words)
      end

      def test_one_frame
        own_flight
        result = top(Process.pid.to_s)
        assert_equal [0, ""], [result.status, result.err]
        head = /\Aheapline top · pid #{Process.pid} · .*\nRSS .*\n= .*\ngrowth 25.60 kB since the start · allocating/
        assert_match(head, result.out)
        assert_match(%r{ 25.60 kB .* rack-1.0/leak.rb:12  Leak#leak  \[job\]$}, result.out)
      end

      def test_json
        own_flight
        results = [top("--json", "--top", "1", Process.pid.to_s), top("--format", "json")]
        one, all = results.map { |result| JSON.parse(result.out) }
        assert_equal [Process.pid, "running", 25_600], one.values_at("pid", "state", "growth_bytes")
        row = one.fetch("rows").fetch(0)
        assert_equal [12, "rack", "job", 25_600], row.values_at("lineno", "gem", "tag", "live_bytes")
        assert_kind_of Float, row.fetch("bytes_allocated_per_second")
        assert_equal([Process.pid], all.fetch("processes").map { |process| process.fetch("pid") })
      end

      def test_options
        own_flight
        assert_match(/  rack$/, top("--by", "gem", "ruby").out)
        assert_match(%r{alloc/s▼}, top("--sort", "rate", "ruby").out)
        assert_match(/nothing matches/, top("--filter", "nowhere", "ruby").out)
        assert_match(/location\n.*leak\.rb:12/, top("--top", "0", "--no-merge", "ruby").out)
      end

      def test_objects_that_are_not_counted
        own_flight
        [[], %w[--json]].each do |words|
          result = top("--by", "class", *words, Process.pid.to_s)
          assert_equal [3, ""], [result.status, result.out]
          assert_match(/\Aheapline: process #{Process.pid} does not count Ruby objects: start it with/, result.err)
        end
      end

      def test_all_processes
        own_flight
        [top, top("--all")].each do |result|
          assert_match(/\Aheapline top · 1 process\n.*^ *#{Process.pid} .* #{own_command[0, 20]}/m, result.out)
        end
        assert_match(/RSS▼/, top("--all", "--sort", "rss").out)
      end

      def test_nobody_is_accounted
        assert_match(/0 processes/, top.out)
        assert_match(/heapline ps/, top("puma").err)
        assert_equal 3, top("puma").status
      end

      def test_the_command_line
        own_flight
        { %w[a b] => /one process at a time/, %w[--all ruby] => /either --all or one process/,
          %w[--sort size ruby] => /no such sort key: "size"/, %w[--every 0 ruby] => /0.05 to 86400/,
          %w[--by row ruby] => /--by takes line, .*, not row/, %w[--sort blocks] => /cannot be sorted by blocks/,
          %w[--sort pid ruby] => /cannot be sorted by pid/, %w[--all --by gem] => /--by/ }.each do |words, message|
          result = top(*words)
          assert_equal 2, result.status, words.inspect
          assert_match message, result.err
        end
      end

      def test_the_end_is_told
        path = own_flight(state: 2)
        result = top(Process.pid.to_s)
        assert_match(/^process #{Process.pid} has exited; its counts are kept: heapline report #{Process.pid}$/,
                     result.out)
        assert_path_exists path
      end
    end

    class PlainTest < Minitest::Test
      include CliHelper

      def plain(path = own_flight, rows: 20, &at_frame)
        @path = path
        @out = StringIO.new
        @out.define_singleton_method(:puts) { |*lines| super(*lines).tap { at_frame&.call } }
        directory = Accounting::FlightDirectory.new("HEAPLINE_DIR" => @directory)
        @stage = Top::Stage.new(directory, directory.find(Process.pid))
        Top::Plain.new(@out, @stage, view: Screen::View.new, every: 0.01, rows: rows, env: environment)
      end

      def teardown
        @stage&.close
        super
      end

      def test_one_frame_with_rates
        plain.run
        assert_equal 1, @out.string.scan("heapline top").size
        assert_match(%r{allocating 0/s in 0 calls/s}, @out.string)
        assert_match(%r{rack-1.0/leak.rb:12}, @out.string)
      end

      def test_frame_after_frame_until_the_process_ends
        ended = ->(path) { File.open(path, "r+b") { |file| file.seek(16) && file.write([2].pack("L")) } }
        plain { ended[@path] if @out.string.scan("heapline top").size == 3 }.run(repeat: true)
        assert_equal 4, @out.string.scan("heapline top").size
        assert_equal :exited, @stage.ending.state
      end
    end
  end
end
