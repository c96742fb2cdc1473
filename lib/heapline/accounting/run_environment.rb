# frozen_string_literal: true

require_relative "../command/base"
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
        @options[:blocks] ||= @options[:mwrap] # SourceLocation#each
        RunOptions.check(options, @options)
        @options[:log] &&= File.expand_path(@options[:log], Command.here.to_s.gsub("%", "%%"))
      end

      # What it has beyond the one that is there (Hash); nil: what must not be there.
      def changes
        { "LD_PRELOAD" => preload, "HEAPLINE" => RunOptions.to_env(@options),
          "HEAPLINE_COMPANION" => @options[:log] && Command::Installation.companion.join("\x1f"),
          **library_path, **(@options[:mwrap] ? mwrap : {}) }
      end

      private

      # Ours first, so that it sees every call; what was there stays: it may be an allocator.
      def preload
        core = Command::Installation.preloadable_core
        [core, *@env["LD_PRELOAD"].to_s.split(/[\s:]+/).reject { |path| path.empty? || path == core }].join(":")
      end

      # Where `require "mwrap"` finds ours, and `require "heapline"` this heapline, also under Bundler, whose load path
      # has nothing but the bundle's gems and what RUBYLIB names.
      def library_path
        ours = [*(Command::Installation::COMPAT if @options[:mwrap]),
                *(Command::Installation.libraries if @options[:tags])]
        ours.empty? ? {} : { "RUBYLIB" => [*ours, *(@env["RUBYLIB"].to_s.split(":") - ours)].join(":") }
      end

      # Where a dump is asked for, the program need not require it.
      def mwrap
        return {} if @env["MWRAP"].to_s.empty?

        { "RUBYOPT" => "#{@env["RUBYOPT"]} -rmwrap".lstrip }
      end

      # The program may change its directory. A file that is asked for is written, quiet or not.
      def aim
        @options[:output] = File.expand_path(@options[:output])
        @options.delete(:quiet)
      end
    end
  end
end
