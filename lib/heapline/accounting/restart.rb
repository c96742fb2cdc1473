# frozen_string_literal: true

require_relative "../command/base"
require_relative "../command/installation"
require_relative "../errors"
require_relative "late_start"
require_relative "run_command"

module Heapline
  module Accounting
    # What `require "heapline/auto"` does in a program that was started without heapline: counting begins there and then
    # (Heapline.start). HEAPLINE_AUTO=1 in its environment: the program starts again, once, as `heapline CMD` would have
    # started it, in the same process. 0: nothing. Never in a child.
    #
    # A program that begins anew loses what it had, so that happens only with no other thread, and before it has sockets
    # or pipes of its own.
    class Restart
      ASKED = "HEAPLINE_AUTO"
      # In /proc/PID/stat: it was forked, and has executed nothing since (PF_FORKNOEXEC).
      FORKED = 0x40

      def initialize(env = ENV, err: $stderr)
        @env = env
        @err = err
      end

      # Does not return where the program starts again.
      def call
        return if Heapline.enabled? || forked?

        wish = @env[ASKED]
        @env[ASKED] ||= "late" # for the programs that it starts
        return start_late if wish.nil?

        start_again if wish == "1"
      rescue Error, SystemCallError => e
        refuse(e.is_a?(Error) ? e.message : Error.reason(e))
      end

      private

      # Where a core is there already, it is the program that begins (`heapline --off`).
      def start_late
        Heapline.start if Native.load_core(Command::Installation.core)
      rescue Error => e
        say("nothing is counted: #{e.message}; put `heapline` before the command")
      end

      def start_again
        @env[ASKED] = "started" # whatever comes of it: never twice, and in no child
        words = command_line
        obstacle = self.obstacle(words) and return refuse(obstacle)

        environment = RunCommand.new(env: @env, err: @err).environment
        [$stdout, $stderr].each(&:flush)
        Kernel.exec(environment, [File.readlink("/proc/self/exe"), words.first], *words.drop(1))
      end

      def say(message)
        Command.say(@err, message)
      end

      def refuse(reason)
        say("nothing is counted, the program could not be started again: #{reason}; put `heapline` before the command")
      end

      def forked?
        File.read("/proc/self/stat")[/.*\) (.*)/m, 1].split[6].to_i.anybits?(FORKED)
      end

      # The words with which this process was started; nil where they cannot be known any more.
      def command_line
        text = File.read("/proc/self/cmdline", encoding: Encoding.default_external)
        title, *words = text.delete_suffix("\0").split("\0", -1)
        return [title, *words] if words.any? { |word| started?(word) }

        # `bundle exec` loads a gem's program itself, and calls the process by its words.
        [Command::Installation.ruby, $PROGRAM_NAME, *ARGV] if title == [$PROGRAM_NAME, *ARGV].join(" ").strip
      end

      # Is this word of the command line what runs?
      def started?(word)
        return word.match?(/\A-\w*e/) if $PROGRAM_NAME == "-e"

        File.basename(word) == File.basename($PROGRAM_NAME)
      end

      # What would be lost; nil: nothing.
      def obstacle(words)
        return "its command line is not known any more" unless words
        return "it is read from standard input" if $PROGRAM_NAME == "-"
        return "it was started with -C" if words.drop(1).take_while { |word| !started?(word) }.any?(/\A-[CX]/)
        return "#{$PROGRAM_NAME} is not in this directory" unless $PROGRAM_NAME == "-e" || File.exist?($PROGRAM_NAME)
        return "it has other threads" if Thread.list.size > 1

        "it has a socket or a pipe already" if ObjectSpace.each_object(IO).any? { |io| connected?(io) }
      end

      # Ruby closes at exec whatever a program has opened, or has made an IO of.
      def connected?(io)
        return false if io.closed? || io.fileno <= 2

        status = io.stat
        status.socket? || status.pipe?
      rescue SystemCallError, IOError
        false
      end
    end
  end
end
