# frozen_string_literal: true

require_relative "../accounting/process_identity"
require_relative "../command/base"
require_relative "../errors"
require_relative "../figures/typed"
require_relative "session"

module Heapline
  module Attach
    # For both commands: the process that is named, or it and all that descend from it and run the same program.
    module Tree
      TIMEOUT = 10.0

      private

      def define_tree(parser)
        parser.on("--tree", "and the processes that were forked from it") { @options[:tree] = true }
        parser.on("--timeout S", "wait so many seconds for a safe point (#{format("%g", TIMEOUT)})") do |value|
          @options[:timeout] = Figures::Typed.seconds(value, zero: true)
        end
      end

      # Yields a Session of each, prints what it returns. The exit status: that of the one that is named.
      def each_process(words)
        pid, *others = words
        raise UsageError, "which process? give one PID" unless pid.to_s.match?(Command::Base::PID) && others.empty?

        family = @options[:tree] ? descendants(pid.to_i) : []
        @out.puts yield(session(pid.to_i))
        family.each { |child| say_of(child) { yield(session(child)) } }
        Command::OK
      end

      def say_of(_child)
        @out.puts yield
      rescue Error => e
        Command.say(@err, e.message)
      end

      def session(pid)
        Session.new(pid, env: @env, timeout: @options.fetch(:timeout, TIMEOUT))
      end

      # Those of the same program: what another one executes is none of its forks.
      def descendants(root)
        parents = Dir.children("/proc").grep(/\A\d+\z/).to_h do |name|
          [name.to_i, Accounting::ProcessIdentity.stat(name.to_i)&.at(1).to_i]
        end
        found = [root]
        found.each { |parent| found.concat(parents.select { |_, above| above == parent }.keys) }
        found.drop(1).select { |pid| program(pid) == program(root) }
      end

      def program(pid)
        File.readlink("/proc/#{pid}/exe")
      rescue SystemCallError
        nil
      end
    end
  end
end
