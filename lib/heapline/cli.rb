# frozen_string_literal: true

require_relative "errors"
require_relative "command/base"

module Heapline
  # The command line: `heapline COMMAND …`. Each command is one file and one class in its room, with SUMMARY (one line),
  # and `call(argv)`, which returns the exit status. A command parses, picks a model and a format; it neither analyses
  # nor formats. Commands are loaded when they are used, so that `heapline ruby …` starts quickly. A command may have
  # commands of its own, of two words.
  # @api private
  module CLI
    # name => [its file, its class]
    COMMANDS = {
      "run" => ["accounting/run_command", "Accounting::RunCommand"],
      "attach" => ["recording/attach_command", "Recording::AttachCommand"],
      "detach" => ["attach/detach_command", "Attach::DetachCommand"],
      "env" => ["accounting/env_command", "Accounting::EnvCommand"],
      "report" => ["report/report_command", "Report::ReportCommand"],
      "snapshot" => ["report/snapshot_command", "Report::SnapshotCommand"],
      "diff" => ["report/diff_command", "Report::DiffCommand"],
      "ps" => ["processes/ps_command", "Processes::PsCommand"],
      "top" => ["top/top_command", "Top::TopCommand"],
      "rss" => ["processes/rss_command", "Processes::RssCommand"],
      "trim" => ["processes/trim_command", "Processes::TrimCommand"],
      "baseline" => ["processes/baseline_command", "Processes::BaselineCommand"],
      "log" => ["growth/log_command", "Growth::LogCommand"],
      "growth" => ["growth/growth_command", "Growth::GrowthCommand"],
      "test" => ["testing/test_command", "Testing::TestCommand"],
      "serve" => ["web/serve_command", "Web::ServeCommand"],
      "stack" => ["processes/stack_command", "Processes::StackCommand"],
      "pages" => ["heap/pages_command", "Heap::PagesCommand"],
      "code" => ["heap/code_command", "Heap::CodeCommand"],
      "heap" => ["cli/commands", "CLI::HeapCommand"],
      "heap dump" => ["heap/dump_command", "Heap::DumpCommand"],
      "heap histo" => ["heap/histo_command", "Heap::HistoCommand"],
      "heap stat" => ["heap/stat_command", "Heap::StatCommand"],
      "heap diff" => ["heap/diff_command", "Heap::DiffCommand"],
      "heap find" => ["heap/find_command", "Heap::FindCommand"],
      "heap dominators" => ["heap/dominators_command", "Heap::DominatorsCommand"],
      "heap graph" => ["heap/graph_command", "Heap::GraphCommand"],
      "heap report" => ["heap/report_command", "Heap::ReportCommand"],
      "leaks" => ["leaks/leaks_command", "Leaks::LeaksCommand"],
      "record" => ["recording/record_command", "Recording::RecordCommand"],
      "replay" => ["replay/replay_command", "Replay::ReplayCommand"],
      "dump" => ["corefile/dump_command", "Corefile::DumpCommand"],
      "core" => ["corefile/core_command", "Corefile::CoreCommand"],
      "doctor" => ["doctor/doctor_command", "Doctor::DoctorCommand"],
      "help" => ["cli/commands", "CLI::HelpCommand"],
      "completion" => ["cli/completion_command", "CLI::CompletionCommand"],
      "version" => ["cli/commands", "CLI::VersionCommand"]
    }.freeze
    # What a person wants to do => the commands for it. `heap` stands for those of two words.
    PURPOSES = {
      "Find what grows" => %w[run attach detach report top baseline growth log snapshot diff dump core],
      "Explain RSS" => %w[rss trim pages code],
      "Ask about Ruby objects" => %w[heap stack],
      "Find what C code lost" => %w[leaks test],
      "Record, and replay on other allocators" => %w[record replay],
      "Look after processes and this installation" => %w[ps serve env doctor completion help version]
    }.freeze
    SHORT = { "--help" => "help", "-h" => "help", "--version" => "version", "-v" => "version" }.freeze

    # What needs no directory of flight files, or says itself what is wrong with it.
    SILENT = %w[doctor help version completion test].freeze
    # How commands begin that heapline starts beside one that was typed.
    OWN = %w[--exit --companion].freeze

    # What is wrong with heapline itself, or with its installation: said in a line like all else.
    MISTAKES = [StandardError, ScriptError, NoMemoryError, SystemStackError].freeze

    # Run the command that `argv` asks for and return the exit status. env, out and err stand for the process's own.
    # Ctrl-C comes out as Interrupt. What the command knows of its status is returned whatever happens afterwards to our
    # own output: a program's status and a finding. An answer that cannot be written is none.
    def self.start(argv, env: ENV, out: $stdout, err: $stderr)
      name, rest = choose(argv)
      command = command(name).new(env: env, out: out, err: err)
      say_directory(env, err) unless SILENT.include?(name) || OWN.include?(rest.first)
      status = command.call(rest)
      suggest(argv.first, env, err) if status == Command::NOT_FOUND && rest == argv
      out.flush
      status
    rescue *MISTAKES => e
      known = command&.status || (status unless status == Command::OK)
      return known || Command::OK if e.is_a?(Errno::EPIPE) # who read has gone: nothing is said

      message, status = problem(e, name)
      Command.say(err, message)
      known || status
    end

    # The class of a command.
    def self.command(name)
      file, constant = COMMANDS.fetch(name)
      require_relative file
      Heapline.const_get(constant)
    end

    # [command, its arguments]. What is no command is a program to run: `heapline ruby leak.rb`.
    def self.choose(argv)
      first, second, *rest = argv
      return ["help", ["start"]] if first.nil?
      return [SHORT[first], argv.drop(1)] if SHORT.key?(first)
      return ["#{first} #{second}", rest] if COMMANDS.key?("#{first} #{second}")

      COMMANDS.key?(first) ? [first, argv.drop(1)] : ["run", argv]
    end

    # What is neither a command nor a program may be nearly a command.
    def self.suggest(word, env, err)
      return unless (spelling = Command.spelling)

      meant = spelling.new(dictionary: COMMANDS.keys).correct(word).first
      found = Command::Program.new(word, env["PATH"]).status != Command::NOT_FOUND # whose own status it was
      Command.say(err, "is it `heapline #{meant}`?") if meant && !found
    end

    # The core counts in that directory too.
    def self.say_directory(env, err)
      given = env["HEAPLINE_DIR"].to_s
      return if given.empty? || given.start_with?("/")

      require_relative "accounting/flight_directory"
      require_relative "terminal/inert"
      Command.say(err, "HEAPLINE_DIR=#{Inert.text(given)} is not absolute and is ignored: flight files are in " \
                       "#{Accounting::FlightDirectory.new(env).path}")
    end

    # [what is said of an exception, the exit status where none is known].
    def self.problem(error, name)
      case error
      when UsageError then ["#{error.message} (heapline help#{" #{name}" if name != "help"})", Command::USAGE]
      when Error then [error.message, Command::FAILED]
      when Errno::ENOSPC, Errno::EDQUOT, Errno::EFBIG
        ["the output cannot be written: #{Error.reason(error)}", Command::FAILED]
      when SystemCallError, IOError then [Error.reason(error), Command::FAILED]
      when NoMemoryError then ["there is not enough memory for this", Command::FAILED]
      else [mistake(error), Command::FAILED]
      end
    end

    def self.mistake(error)
      return uncompiled(error) if error.is_a?(LoadError) && error.path.to_s.end_with?("heapline/native")

      place = error.backtrace&.first.to_s.delete_prefix("#{File.expand_path("..", __dir__)}/")
      message = error.message.lines.first.to_s.chomp[0, 200] # which may show an object with all that it holds
      "a mistake in heapline itself, please report it: #{error.class}: #{message} (#{place})"
    end

    def self.uncompiled(error)
      require_relative "extension"
      Extension.uncompiled(error)
    end

    private_class_method :choose, :suggest, :say_directory, :problem, :mistake, :uncompiled
  end
end
