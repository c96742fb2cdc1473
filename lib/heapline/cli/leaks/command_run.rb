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

        # Exit status of the command, as a shell says it; and its reports as [text, name], or nil where it did not run.
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
          @status = passing_signals(pid) { exit_status(Process.wait2(pid).last) }
          @texts = reports(directory)
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

        def exit_status(status)
          status.signaled? ? 128 + status.termsig : status.exitstatus
        end

        def reports(directory)
          files = Dir.glob(File.join(directory, "*.leaks"))
          if files.empty?
            raise Error, "no process of #{@words.first} was searched: none was Ruby, or none came to its at_exit " \
                         "handlers (exit!, a signal)"
          end
          files.map { |file| [File.binread(file), file] }
        end
      end
    end
  end
end
