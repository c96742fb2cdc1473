# frozen_string_literal: true

require "json"
require "open3"
require "rbconfig"
require "tmpdir"

module Bench
  module Leaks
    Broken = Class.new(StandardError)

    # A program that keeps strings, while a thread of it replaces some of them, is searched as it runs.
    class Pause
      COMMAND = [RbConfig.ruby, File.expand_path("../../exe/heapline", __dir__)].freeze
      STRING_BYTES = 4000
      PROGRAM = <<~RUBY.freeze
        kept = Array.new(Integer(ARGV.first)) { "x" * #{STRING_BYTES} }
        Thread.new { loop { kept[rand(kept.size)] = "y" * #{STRING_BYTES}; sleep 0.0001 } }
        $stdout.puts "ready"
        $stdout.flush
        $stdin.read
      RUBY
      TARGET_MS = 50 # for 1 GB

      # megabytes: of live blocks; rounds: searches.
      def initialize(megabytes:, rounds:)
        @strings = megabytes * 1_000_000 / STRING_BYTES
        @rounds = rounds
      end

      # A line a search, and how many waited no longer than they may.
      def report(io)
        found = Dir.mktmpdir("heapline-bench") { |directory| measure("HEAPLINE_DIR" => directory, "HEAPLINE" => nil) }
        found.each { |search| io.puts line(search) }
        allowed = TARGET_MS * [1, found.last["live_bytes"] / 1e9].max
        within = found.count { |search| search["pause_ms"] <= allowed }
        io.puts "#{within} of #{@rounds} made it wait for at most #{allowed.round} ms"
      end

      private

      def measure(env)
        program = [*COMMAND, "--quiet", "--blocks", RbConfig.ruby, "-e", PROGRAM, @strings.to_s]
        Open3.popen2(env, *program) do |_, out, waiter|
          raise Broken, "the program did not start" unless out.gets == "ready\n"

          Array.new(@rounds) { search(env, waiter.pid) }
        end
      end

      def search(env, pid)
        out, err, status = Open3.capture3(env, *COMMAND, "leaks", "--format", "json", pid.to_s)
        raise Broken, err unless [0, 1].include?(status.exitstatus)

        JSON.parse(out)["processes"].first
      end

      def line(search)
        format("%<bytes>.2f GB in %<live_blocks>d blocks: paused %<pause_ms>.1f ms after a GC of %<gc_ms>.1f ms; " \
               "searched in %<search_ms>.0f ms", bytes: search["live_bytes"] / 1e9,
                                                 **search.transform_keys(&:to_sym))
      end
    end
  end
end
