# frozen_string_literal: true

require_relative "../command/installation"
require_relative "run_options"

module Heapline
  module Accounting
    # What a program needs in its environment to be accounted, whoever starts it: `heapline CMD` sets it, and
    # `heapline env` prints it.
    class RunEnvironment
      # env: the one that is there. options: of the command line (Hash); they win over those of HEAPLINE.
      def initialize(env, options)
        @env = env
        @options = RunOptions.from_env(env["HEAPLINE"]).merge(options)
        aim if @options[:output]
        @options[:log] &&= File.expand_path(@options[:log])
        @options[:blocks] ||= @options[:mwrap] # SourceLocation#each
      end

      # What it has beyond the one that is there (Hash); nil: what must not be there.
      def changes
        { "LD_PRELOAD" => preload, "HEAPLINE" => RunOptions.to_env(@options),
          "HEAPLINE_COMPANION" => @options[:log] && Command::Installation.companion.join("\x1f"),
          **(@options[:mwrap] ? mwrap : {}) }
      end

      private

      # Ours first, so that it sees every call; what was there stays: it may be an allocator.
      def preload
        core = Command::Installation.preloadable_core
        [core, *@env["LD_PRELOAD"].to_s.split(/[\s:]+/).reject { |path| path.empty? || path == core }].join(":")
      end

      # `require "mwrap"` finds ours. Where a dump is asked for, the program need not require it.
      def mwrap
        changes = { "RUBYLIB" => first_of(Command::Installation::COMPAT, @env["RUBYLIB"]) }
        changes["RUBYOPT"] = "#{@env["RUBYOPT"]} -rmwrap".lstrip unless @env["MWRAP"].to_s.empty?
        changes
      end

      # The program may change its directory. A file that is asked for is written, quiet or not.
      def aim
        @options[:output] = File.expand_path(@options[:output])
        @options.delete(:quiet)
      end

      def first_of(directory, list)
        [directory, *list.to_s.split(":").reject { |path| path == directory }].join(":")
      end
    end
  end
end
