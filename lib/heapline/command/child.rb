# frozen_string_literal: true

require_relative "../errors"

module Heapline
  module Command
    # A program that a command runs beside itself, and outlives. Its end is waited for whatever happens here, and what
    # it ended with is the command's exit status (Command#status).
    class Child
      # What is for the program and reaches this process alone. The terminal's Ctrl-C and Ctrl-\ reach both.
      PASSED = %w[TERM HUP USR1 USR2 CONT].freeze
      ENDURED = %w[INT QUIT].freeze

      # pid: once it runs. name: as it was typed.
      attr_reader :pid, :name

      # Yields a new directory for what the program leaves to its command; it is removed afterwards.
      def self.in_scratch(name)
        require "fileutils" # here, and not before each program that heapline becomes
        require "tmpdir"
        directory = begin
          Dir.mktmpdir(name)
        rescue ArgumentError, SystemCallError => e
          raise Error, "no temporary directory can be made: #{Error.reason(e)}; set TMPDIR to another place"
        end
        yield directory
      ensure
        FileUtils.rm_rf(directory) if directory
      end

      # words: the command line. search_path: PATH.
      def initialize(words, search_path, err:)
        @words = words
        @name = words.first
        @program = Program.new(@name, search_path)
        @err = err
      end

      # Is it JRuby or TruffleRuby? There is nothing in them that heapline reads.
      def other_ruby?
        @program.other_ruby?
      end

      # The exit status as a shell has it: 128 and the signal where one ended it. nil: it has not ended.
      def status
        @status || (@ended && (@ended.exitstatus || (128 + @ended.termsig)))
      end

      # Its Process::Status, once it has ended.
      def ended
        wait(Process::WNOHANG) unless @ended
        @ended
      end

      # Run it with `environment` (Hash) beside this one's; yields while it runs. Its Process::Status, or nil where it
      # could not be started: that is said, and `status` is what a shell would give.
      def run(environment)
        return refuse(@program.problem, @program.status) if @program.problem

        passing_signals { spawn(environment) && (yield self if block_given?) }
        @ended
      end

      # In place of this process. Does not return, but where it cannot be started: the exit status.
      def replace(environment)
        start { Kernel.exec(environment, [@program.path, @name], *@words.drop(1)) }
        status
      end

      private

      def spawn(environment)
        start { @pid = Process.spawn(environment, [@program.path, @name], *@words.drop(1)) }
      end

      def start
        return refuse(@program.problem, @program.status) if @program.problem

        yield
      rescue Errno::ENOENT
        refuse("#{@name}: its interpreter (the #! line) does not exist", NOT_FOUND)
      rescue SystemCallError => e
        refuse("#{@name}: #{e.message}", NOT_EXECUTABLE)
      end

      def refuse(problem, status)
        @status = status
        Command.say(@err, problem)
      end

      def wait(flags = 0)
        _, @ended = Process.wait2(@pid, flags)
      end

      # A handler, and not IGNORE, which the program would inherit; what is ignored already stays so, as under nohup,
      # but for SIGCHLD: there would be nothing to wait for.
      def passing_signals
        former = PASSED.to_h { |name| [name, trap(name) { pass(name) }] }
        former.merge!([*ENDURED, "CHLD"].to_h { |name| [name, trap(name) { nil }] })
        former.except("CHLD").each { |name, handler| trap(name, handler) if handler == "IGNORE" }
        yield
      ensure
        wait if @pid && !@ended
        former&.each { |name, handler| trap(name, handler || "DEFAULT") }
      end

      def pass(name)
        Process.kill(name, @pid) if @pid && !@ended
      rescue Errno::ESRCH
        nil
      end
    end

    # The program that is to be run, looked at before exec so that what goes wrong can be said clearly.
    class Program
      OTHER_RUBIES = /\A(?:jruby|truffleruby)\b/

      # path: of the file to execute, or nil. problem: nil, or what is wrong. status: the exit status for it.
      attr_reader :path, :problem, :status

      def initialize(name, search_path)
        @name = name
        @path = name.include?("/") ? name : find(search_path.to_s)
        @problem, @status = look
        freeze
      end

      # By its name, or by that of the file that it leads to: their `ruby` is a link.
      def other_ruby?
        !@problem && [@path, File.realpath(@path)].any? { |path| OTHER_RUBIES.match?(File.basename(path)) }
      end

      private

      def find(search_path)
        candidates = search_path.split(":").map { |directory| File.join(directory.empty? ? "." : directory, @name) }
        candidates.find { |path| File.file?(path) && File.executable?(path) } ||
          candidates.find { |path| File.file?(path) }
      end

      def look
        return ["#{@name}: command not found", NOT_FOUND] if @path.nil? || !File.exist?(@path)
        return ["#{@name}: is a directory", NOT_EXECUTABLE] if File.directory?(@path)
        return ["#{@name}: cannot be executed (no permission)", NOT_EXECUTABLE] unless File.executable?(@path)

        changes_user? ? [refusal, NOT_EXECUTABLE] : nil
      end

      # The dynamic linker ignores LD_PRELOAD for programs that change the user or group.
      def changes_user?
        status = File.stat(@path)
        (status.setuid? && status.uid != Process.uid) || (status.setgid? && status.gid != Process.gid)
      end

      def refusal
        "#{@name}: changes the user, so that the dynamic linker ignores LD_PRELOAD; put heapline after it: " \
          "#{@name} heapline …"
      end
    end
  end
end
