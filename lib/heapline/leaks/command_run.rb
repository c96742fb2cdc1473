# frozen_string_literal: true

require_relative "end_searches"
require_relative "../command/base"
require_relative "../command/next_steps"
require_relative "../accounting/run_command"

module Heapline
  module Leaks
    # A command that runs to its end with blocks kept; it, and every Ruby process that it forks or starts, is searched
    # in its last at_exit handler.
    class CommandRun
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
        @wishes = [*(:reachable if reachable), *(:since if since)]
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
        asked = { EndSearches::VARIABLE => EndSearches.asked(directory, @wishes) }
        Accounting::RunCommand.new(env: env, out: @out, err: @err).environment.merge("HEAPLINE_TOP" => nil, **asked)
      end

      def reports(directory)
        found = EndSearches.reports(directory)
        found unless found.empty?
      end

      def say_unsearched(directory, ended)
        left = EndSearches.left(directory)
        pids(left).each do |pid|
          Command.say(@err, "process #{pid} was not searched before exec made it another program")
        end
        pids(EndSearches.missing(directory)).each do |pid|
          Command.say(@err, "process #{pid} was not searched: #{ending(pid, ended)}")
        end
        return if EndSearches.begun?(directory) || left.any?

        Command.say(@err, "no process of #{@child.name} was searched: #{unsearched}")
      end

      def pids(names)
        names.map(&:to_i).sort
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
