# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

module Bench
  # The benchmark of sizes, with the least of each.
  class CliffsTest < Minitest::Test
    BENCH = File.expand_path("../../bench/cliffs.rb", __dir__)

    def test_a_line_for_each_size
      assert_sizes %w[1024 2048] * 5, 11, *%w[lines tags report top list]
      assert_sizes %w[1024] * 3, 10, *%w[fork fork_exec spawn]
      assert_sizes %w[8] * 2, 3, *%w[stacks classes]
      assert_sizes %w[1 2 4] * 2, 2, *%w[threads fibers]
    end

    def test_a_page_has_what_was_printed
      Dir.mktmpdir do |directory|
        page = File.join(directory, "scale.md")
        printed = assert_sizes(%w[1 2], 1, "--output", page, "fibers")
        written = File.read(page)
        assert written.end_with?(printed), written
        assert_match(/\A# What it costs by how much there is$.* · runs: 1\.\n\n## fibers\n\n\| fibers that /m, written)
      end
    end

    # All rows of what commands answer.
    def test_commands
      formats = %w[csv json pprof collapsed speedscope html].map { |format| "report_#{format}" }
      assert_sizes %w[1024] * 7, 10, "capture_diff", *formats
      assert_sizes %w[128], 7, "growth"
      heap = %w[histo lines stat diff dominators find report].map { |command| "heap_#{command}" }
      assert_sizes %w[1024] * 8, 10, "leaks", *heap
      assert_sizes %w[256], 8, "objects"
    end

    def assert_sizes(expected, most, *names)
      output, status = Open3.capture2e(RbConfig.ruby, BENCH, "--runs", "1", "--most", most.to_s, *names)
      assert_predicate status, :success?, output
      assert_equal expected, sizes(output), output
      output
    end

    def test_a_name_that_is_none_is_one_line
      output, status = Open3.capture2e(RbConfig.ruby, BENCH, "hills")
      refute_predicate status, :success?
      assert_match(/\Abench: there is no cliff hills: lines, tags.*\n\z/, output)
    end

    private

    def sizes(output)
      output.scan(/^\| (\d+) \| \d+\.\d{3} \| \d+\.\d{3} \| -?\d+\.\d{3} \|$/).flatten
    end
  end
end
