# frozen_string_literal: true

require_relative "../files/input"
require_relative "../command/base"
require_relative "../command/next_steps"
require_relative "../accounting/run_command"

module Heapline
  module Leaks
    # A command that runs to its end with blocks kept; it, and every Ruby process that it forks or starts, is searched
    # in its last at_exit handler.
    class CommandRun
      # What stands before the directory in HEAPLINE_LEAKS: their sum (leak_file.h).
      REACHABLE = 1
      SINCE = 2

      # The exit status, Command::FAILED where the command ended well and nothing was searched; and the reports as
      # [text, name], or nil where there is none.
      attr_reader :status, :texts

      # argv: the words behind `heapline leaks`.
      def initialize(child, env, out, err, argv: [], since: false, reachable: false, **core)
        @argv = argv
        @core = core
        @child = child
        @env = env
        @out = out
        @err = err
        @flags = (reachable ? REACHABLE : 0) + (since ? SINCE : 0)
        Command::Child.in_scratch("heapline-leaks") { |scratch| run(scratch) }
      end

      private

      def run(directory)
        @out.flush
        ended = @child.run(environment(directory))
        @texts = reports(directory)
        @status = @child.status
        return unless ended

        @status = Command::FAILED if @texts.nil? && @status.zero?
        say_unsearched(directory, ended)
      end

      def environment(directory)
        options = Accounting::RunOptions.from_env(@env["HEAPLINE"]).merge(quiet: true, blocks: true, **@core)
        env = @env.to_h.merge("HEAPLINE" => Accounting::RunOptions.to_env(options.except(:output, :log)))
        Accounting::RunCommand.new(env: env, out: @out, err: @err).environment
                              .merge("HEAPLINE_TOP" => nil, "HEAPLINE_LEAKS" => "#{@flags}#{directory}")
      end

      def reports(directory)
        files = Dir.glob(File.join(directory, "*.leaks"))
        files.map { |file| [Input.bytes(file, pipe: false), file] } unless files.empty?
      end

      # Each process whose VM has begun left a PID-STARTTICKS.begun (leak_file.h): a pid may have come twice.
      def say_unsearched(directory, ended)
        begun, searched = %w[begun leaks].map do |kind|
          Dir.glob("*.#{kind}", base: directory).map { |name| name.delete_suffix(".#{kind}") }
        end
        (begun - searched).reject { |name| tried?(directory, name) }.map(&:to_i).sort.each do |pid|
          Command.say(@err, "process #{pid} was not searched: #{ending(pid, ended)}")
        end
        Command.say(@err, "no process of #{@child.name} was searched: #{unsearched}") if begun.empty?
      end

      # It has said itself why it was not searched.
      def tried?(directory, name)
        Input.bytes(File.join(directory, "#{name}.begun"), pipe: false) == "1"
      end

      def unsearched
        return "none could be counted (a program that is linked statically cannot)" if @core[:any]

        "none was Ruby (#{Command::NextSteps.any("leaks", @argv)})"
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
