# frozen_string_literal: true

require "tmpdir"
require_relative "../command"
require_relative "../program"
require_relative "../run"

module Heapline
  module CLI
    class Leaks < Command
      # A command that runs to its end with blocks kept; it, and every Ruby process that it forks or starts, is searched
      # in its last at_exit handler. This process waits: signals that are sent to it are passed on.
      class CommandRun
        PASSED = %w[TERM HUP QUIT USR1 USR2].freeze
        # What stands before the directory in HEAPLINE_LEAKS: their sum (leak_file.h).
        REACHABLE = 1
        SINCE = 2

        # Exit status of the command, as a shell says it; and its reports as [text, name], or nil where there is none.
        attr_reader :status, :texts

        def initialize(words, env, out, err, since: false, reachable: false)
          @words = words
          @env = env
          @out = out
          @err = err
          @flags = (reachable ? REACHABLE : 0) + (since ? SINCE : 0)
          start(Program.new(words.first, env["PATH"]))
        end

        private

        def start(program)
          program.problem ? refuse(program) : Dir.mktmpdir("heapline-leaks") { |scratch| run(program.path, scratch) }
        end

        def refuse(program)
          @err.puts "heapline: #{program.problem}"
          @status = program.status
        end

        def run(path, directory)
          @out.flush
          pid = Process.spawn(environment(directory), [path, @words.first], *@words.drop(1))
          ended = passing_signals(pid) { Process.wait2(pid).last }
          @status = ended.exitstatus || (128 + ended.termsig)
          @texts = reports(directory)
          @status = PROBLEM if @texts.nil? && @status.zero?
          say_unsearched(directory, ended)
        rescue Errno::ENOENT, Errno::ENOEXEC, Errno::EACCES => e
          raise Error, "#{@words.first}: #{e.message}"
        end

        def environment(directory)
          options = RunOptions.from_env(@env["HEAPLINE"]).merge(quiet: true, blocks: true)
          env = @env.to_h.merge("HEAPLINE" => RunOptions.to_env(options.except(:output, :log)))
          Run.new(env: env, out: @out, err: @err).environment
             .merge("HEAPLINE_TOP" => nil, "HEAPLINE_LEAKS" => "#{@flags}#{directory}")
        end

        # A terminal sends its own to the command too.
        def passing_signals(pid)
          former = PASSED.to_h { |name| [name, trap(name) { pass(name, pid) }] }.merge("INT" => trap("INT", "IGNORE"))
          yield
        ensure
          former&.each { |name, handler| trap(name, handler || "DEFAULT") }
        end

        def pass(name, pid)
          Process.kill(name, pid)
        rescue Errno::ESRCH
          nil
        end

        def reports(directory)
          files = Dir.glob(File.join(directory, "*.leaks"))
          files.map { |file| [File.binread(file), file] } unless files.empty?
        end

        # Each process whose VM has begun left a PID.begun (leak_file.h).
        def say_unsearched(directory, ended)
          begun, searched = %w[begun leaks].map { |kind| Dir.glob("*.#{kind}", base: directory).map(&:to_i) }
          (begun - searched).sort.each do |pid|
            @err.puts "heapline: process #{pid} was not searched: #{ending(pid, ended)}"
          end
          @err.puts "heapline: no process of #{@words.first} was searched: none was Ruby" if begun.empty?
        end

        def ending(pid, ended)
          return "it still runs: heapline leaks #{pid}" if pid != ended.pid && File.exist?("/proc/#{pid}")
          return "it ended through exit! or a signal, before its at_exit handlers" if pid != ended.pid
          return "it ended by SIG#{Signal.signame(ended.termsig)}, before its at_exit handlers" if ended.signaled?

          "it ended through exit!, before its at_exit handlers"
        end
      end
    end
  end
end
