# frozen_string_literal: true

# How long programs stand still when heapline comes and goes, and whether it always comes: ruby bench/attach.rb --help
require "optparse"
require "tmpdir"
$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "heapline/attach/session"

module Bench
  # A program is attached to and detached from again and again; afterwards it must go on as before.
  class Attach
    MAIN = "$stdout.syswrite(\"ready\\n\"); $stdin.gets; $stdout.syswrite(\"end\\n\"); exit!(0)"
    KINDS = {
      "idle" => "", "allocating" => "3.times { Thread.new { loop { 'y' * 1000 } } }",
      "collecting" => "Thread.new { loop { [1] * 1000; GC.start } }",
      "forking" => "Thread.new { loop { Process.wait(fork { 'y' * 1000; exit!(0) }) } }",
      "200 threads" => "200.times { Thread.new { sleep } }",
      "2 GB, 200 threads" => "$kept = Array.new(2000) { 'k' * 1_000_000 }; 200.times { Thread.new { sleep } }"
    }.freeze
    PATIENCE = 30

    # ruby: words that start the Ruby of the programs; tries: attaches of each program, of the largest a tenth.
    def initialize(ruby, tries)
      @ruby = ruby
      @tries = tries
    end

    def report(out)
      out.puts "ms: pauses (median, 99 %, most), all of the command's work (median); RSS after the first and the last"
      KINDS.each do |name, code|
        tries = name.start_with?("2 GB") ? [@tries / 10, 1].max : @tries
        out.puts line(name, tries, program("#{code}; #{MAIN}", tries))
      end
    end

    private

    # [[milliseconds of the pause, of all], …], RSS in MB after the first and the last, did it end as it would?
    def program(code, tries)
      Dir.mktmpdir do |directory|
        env = { "HEAPLINE_DIR" => directory, "HEAPLINE" => "quiet" }
        IO.popen([env, *@ruby, "-e", code], "r+") do |io|
          io.gets == "ready\n" or abort "bench: the program did not start"
          sizes = []
          times = Array.new(tries) { attach(io.pid, env).tap { sizes << rss(io.pid) } }
          io.puts
          [times, sizes.values_at(0, -1), io.read == "end\n"]
        end
      end
    end

    def attach(pid, env)
      begun = Heapline::Clock.now
      said = session(pid, env).attach({})
      took = Heapline::Clock.now - begun
      session(pid, env).detach
      [said[/paused ([\d.]+) ms/, 1].to_f, took * 1e3]
    rescue Heapline::Error => e
      warn e.message
      nil
    end

    def session(pid, env)
      Heapline::Attach::Session.new(pid, env: env, timeout: PATIENCE)
    end

    def rss(pid)
      File.read("/proc/#{pid}/status")[/^VmRSS:\s*(\d+)/, 1].to_i / 1024.0
    end

    def line(name, tries, (times, sizes, went_on))
      done = times.compact
      pauses, all = done.transpose.map(&:sort)
      format("%-18s %5d of %d  pause %6.1f %6.1f %6.1f  took %6.1f  RSS %.0f to %.0f MB  %s", name, done.size, tries,
             *at(pauses), all[all.size / 2], *sizes, went_on ? "went on" : "did not go on")
    end

    def at(sorted)
      [sorted[sorted.size / 2], sorted[(sorted.size * 0.99).ceil - 1], sorted.last]
    end
  end
end

options = { ruby: [RbConfig.ruby], tries: 200 }
OptionParser.new("usage: ruby bench/attach.rb [options]") do |parser|
  parser.on("--ruby WORDS", "of the programs: \"ruby --yjit\"") { |words| options[:ruby] = words.split }
  parser.on("--tries N", Integer, "attaches of each program; by default 200") { |n| options[:tries] = n }
end.parse!
$stdout.sync = true
Bench::Attach.new(options[:ruby], options[:tries]).report($stdout)
