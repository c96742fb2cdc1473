# frozen_string_literal: true

require "test_helper"
require "shellwords"
require "support/accounted"

module Heapline
  # `heapline env`, taken over by a shell that then starts programs itself.
  class EnvTest < Minitest::Test
    include Accounted

    LEAK = <<~RUBY
      KEPT = []
      50.times { KEPT << ("x" * 100_000) }
      $stdout.puts Process.pid
      $stdout.flush
      $stdin.read
    RUBY

    def test_a_program_of_that_shell_is_accounted_and_logged
      file = program(LEAK)
      ours = heapline_command("env", "--objects", "--log", path("log-%p.jsonl"), "--every", "0.1").shelljoin
      script = "eval \"$(#{ours})\"; exec #{[RbConfig.ruby, file].shelljoin}"
      IO.popen(environment, ["sh", "-c", script], "r+") do |io|
        pid = io.gets.to_i
        report = json_report(pid)
        assert_operator figure(report, "#{file}:2", "live_bytes"), :>=, 5_000_000
        assert_operator report.dig("objects", "totals", "live"), :>, 0
        await("no growth log") { File.size?(path("log-#{pid}.jsonl")) }
      end
      await("the companion did not end") { Dir[path("flights/*.companion")].empty? }
    end
  end
end
