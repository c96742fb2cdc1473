# frozen_string_literal: true

require_relative "errors"

module Heapline
  # The command line: `heapline COMMAND …`. Each command is one file and one class in cli/, with SUMMARY (one line),
  # and `call(argv)`, which returns the exit status. A command parses, picks a model and a format; it neither analyses
  # nor formats. Commands are loaded when they are used, so that `heapline ruby …` starts quickly. A command may have
  # commands of its own, of two words.
  module CLI
    COMMANDS = { "run" => :Run, "report" => :Report, "snapshot" => :Snapshot, "diff" => :Diff, "ps" => :Ps,
                 "top" => :Top, "rss" => :Rss, "trim" => :Trim, "baseline" => :Baseline, "log" => :Log,
                 "growth" => :Growth, "test" => :Test, "serve" => :Serve, "stack" => :Stack, "pages" => :Pages,
                 "code" => :Code, "heap" => :Heap, "heap dump" => "Heap::Dump", "heap histo" => "Heap::Histo",
                 "heap stat" => "Heap::Stat", "heap diff" => "Heap::Diff", "heap find" => "Heap::Find",
                 "heap dominators" => "Heap::Dominators", "heap graph" => "Heap::Graph",
                 "heap report" => "Heap::Report", "leaks" => :Leaks, "record" => :Record,
                 "replay" => :Replay, "doctor" => :Doctor, "help" => :Help, "version" => :Version }.freeze
    SHORT = { "--help" => "help", "-h" => "help", "--version" => "version", "-v" => "version" }.freeze

    OK = 0
    PROBLEM = 1
    USAGE = 2
    NOT_EXECUTABLE = 126
    NOT_FOUND = 127

    # Run the command that `argv` asks for and return the exit status. env, out and err stand for the process's own.
    # Ctrl-C comes out as Interrupt.
    def self.start(argv, env: ENV, out: $stdout, err: $stderr)
      name, rest = choose(argv)
      status = command(name).new(env: env, out: out, err: err).call(rest)
      out.flush
      status
    rescue Errno::EPIPE
      quiet_end(out)
    rescue UsageError => e
      say(err, "#{e.message} (heapline help#{" #{name}" if name != "help"})", USAGE)
    rescue Error => e
      say(err, e.message, PROBLEM)
    end

    # The class of a command.
    def self.command(name)
      require_relative "cli/#{name.tr(" ", "/")}"
      const_get(COMMANDS.fetch(name))
    end

    # [command, its arguments]. What is no command is a program to run: `heapline ruby leak.rb`.
    def self.choose(argv)
      first, second, *rest = argv
      return ["help", []] if first.nil?
      return [SHORT[first], argv.drop(1)] if SHORT.key?(first)
      return ["#{first} #{second}", rest] if COMMANDS.key?("#{first} #{second}")

      COMMANDS.key?(first) ? [first, argv.drop(1)] : ["run", argv]
    end

    def self.say(err, message, status)
      err.puts "heapline: #{message}"
      status
    rescue Errno::EPIPE
      status
    end

    # The reader of a pipe has gone: no message, and nothing left to flush at exit.
    def self.quiet_end(out)
      out.reopen(File::NULL, "w") if out.is_a?(IO)
      OK
    end
    private_class_method :choose, :say, :quiet_end
  end
end
