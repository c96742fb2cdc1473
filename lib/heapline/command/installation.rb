# frozen_string_literal: true

require_relative "../errors"

module Heapline
  module Command
    # Where this heapline's own files are.
    module Installation
      LIB = File.expand_path("../..", __dir__)
      EXE = File.expand_path("../exe/heapline", LIB)
      CORE = "heapline/libheapline.so"
      COMPAT = File.join(LIB, "heapline", "compat", "rubylib")

      # Path of the preload core. RubyGems may put what it compiles in a directory of its own on the load path.
      def self.core
        found = [LIB, *$LOAD_PATH].map { |directory| File.join(directory.to_s, CORE) }.find { |path| File.file?(path) }
        found || raise(Error, "the core is not compiled: #{File.join(LIB, CORE)} is missing; run `rake compile` in " \
                              "the checkout, or install the gem again")
      end

      # The core, if LD_PRELOAD can name it: it separates its entries by spaces and colons and knows no quoting.
      def self.preloadable_core
        path = core
        return path unless path.match?(/[\s:]/)

        raise Error, "LD_PRELOAD cannot name #{path}: there is a space or a colon in it; install heapline elsewhere"
      end

      # The command line of the process that prints the exit report.
      def self.reporter
        own_process("report", "--exit")
      end

      # The command line of the process that writes the growth log; the core adds the pid of the top-level process.
      def self.companion
        own_process("log", "--companion", "--flight", "4")
      end

      # The directories that `require "heapline"` needs.
      def self.libraries
        [LIB, File.expand_path("..", File.dirname(core))].uniq
      end

      # The command line of a process that the core starts. It runs with the application's environment, so it takes
      # neither gems nor RUBYOPT from there.
      def self.own_process(*words)
        [ruby, "--disable=gems,rubyopt", *libraries.map { |path| "-I#{path}" }, EXE, *words]
      end

      # The Ruby that runs this. RbConfig knows it as well, and would be a tenth of a command's start.
      def self.ruby
        path = running
        return path if path && File.basename(path).start_with?("ruby") && File.executable?(path)

        require "rbconfig" # another program runs it, it is no longer there, or there is no /proc
        RbConfig.ruby
      end

      def self.running
        File.readlink("/proc/self/exe")
      rescue SystemCallError
        nil
      end
      private_class_method :running
    end
  end
end
