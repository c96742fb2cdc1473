# frozen_string_literal: true

require "test_helper"
require "open3"

module Bench
  # bench/serving.rb, two starts and one small turn of each server.
  class ServingTest < Minitest::Test
    BENCH = File.expand_path("../../bench/serving.rb", __dir__)
    LINE = /^(\S.*\S) +\d+\.\d\d +(\d\.\d{3}) \(\d\.\d{3} to \d\.\d{3}\) +\d+ +\d\.\d{3} \(\d\.\d{3} to \d\.\d{3}\)$/

    def test_each_server_is_a_line
      out, error, status = run_bench("--quick", "--tools", "heapline,objects")
      assert_predicate status, :success?, error
      lines = out.scan(LINE)
      assert_equal ["plain", "plain again", "heapline", "objects"], lines.map(&:first), out
      # The two without a tool are compared to the mean of both.
      assert_in_delta 2.0, lines.first(2).sum { |_, cpu| Float(cpu) }, 0.002
    end

    def test_what_is_no_tool_for_servers
      out, error, status = run_bench("--quick", "--tools", "record")
      assert_equal ["", "bench: no tool for servers: record\n", 1], [out, error, status.exitstatus]
    end

    def test_nobody_is_there_to_ask
      _, error, status = run_bench("--quick", env: { "PATH" => "/nonexistent" })
      assert_equal 1, status.exitstatus
      assert_match(/\Abench: the server .+: h2load is not there \(Debian .+ have it in nghttp2-client\)\n\z/, error)
    end

    private

    def run_bench(*options, env: {})
      Open3.capture3(env, RbConfig.ruby, BENCH, *options)
    end
  end
end
