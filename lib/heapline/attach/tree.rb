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
        parser.on("--tree", "also the processes that were forked from it") { @options[:tree] = true }
        parser.on("--timeout S", "wait S seconds for a safe point (#{format("%g", TIMEOUT)})") do |value|
          @options[:timeout] = Figures::Typed.seconds(value, zero: true)
        end
      end

      # Yields a Session of each, prints what it returns. The exit status.
      def each_process(words, &act)
        pid = Command.pid(words)
        return all(pid, &act) if @options[:tree]

        @out.puts act.call(session(pid))
        Command::OK
      end

      # Round after round, while there was one to act on: a process may have forked before its turn came. What keeps one
      # out keeps no other out.
      def all(root, &act)
        done = {}
        loop do
          first = done.empty?
          round = (family(root) - done.keys).map { |pid| done[pid] = try(pid, first: first, &act) }
          break unless round.any?
        end
        done.value?(true) ? Command::OK : Command::FAILED
      end

      # Later rounds find children that began as their parent was.
      def try(pid, first:)
        @out.puts yield(session(pid))
        true
      rescue Error => e
        Command.say(@err, e.message) if first || !e.is_a?(Session::Nothing)
        false
      end

      def session(pid)
        Session.new(pid, env: @env, timeout: @options.fetch(:timeout, TIMEOUT))
      end

      # The process and its descendants of the same program: what another one executes is none of its forks.
      def family(root)
        parents = Dir.children("/proc").grep(/\A\d+\z/).to_h do |name|
          [name.to_i, Accounting::ProcessIdentity.stat(name.to_i)&.at(1).to_i]
        end
        found = [root]
        found.each { |parent| found.concat(parents.select { |_, above| above == parent }.keys) }
        found.select { |pid| pid == root || program(pid) == program(root) }
      end

      def program(pid)
        File.readlink("/proc/#{pid}/exe")
      rescue SystemCallError
        nil
      end
    end
  end
end
