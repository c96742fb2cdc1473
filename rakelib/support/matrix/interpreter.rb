# frozen_string_literal: true

require "fileutils"

module Tasks
  module Matrix
    # An interpreter that cannot be prepared; the message says what was tried and what it answered.
    class Broken < StandardError; end

    # One Ruby of the matrix: how it is prepared and how a command runs with it. This one is the Ruby that runs Rake.
    #
    # The checkout is copied to a folder of its own, and the gems lie in one too, both inside `root`: what the tests do
    # there leaves no trace in the checkout or on the machine.
    class Interpreter
      # name: for the table; folder: below the cache
      def initialize(name, folder)
        @name = name
        @folder = File.join(CACHE, "matrix", folder)
      end

      attr_reader :name

      # Why it cannot run here, or nil.
      def unavailable; end

      # Make it usable. Raises Broken.
      def prepare
        FileUtils.mkdir_p([@folder, root])
        WorkCopy.make(File.join(root, work))
        install_gems
      end

      # Run Ruby with arguments in the copy of the checkout. Returns [success, output], printing the output as it comes.
      def ruby(*arguments)
        Shell.stream(*inside, "env", "-i", *settings, "sh", "-c", 'cd "$0" && exec "$@"', work, program, *arguments)
      end

      private

      # The folder that the program sees as /; work, gems: seen from there.
      def root
        "/"
      end

      def work
        File.join(@folder, "checkout")
      end

      def gems
        File.join(@folder, "gems")
      end

      def program
        RbConfig.ruby
      end

      # The command that leads from this process to where the interpreter lives.
      def inside
        []
      end

      # Folder whose `ruby` is the interpreter.
      def bin
        File.dirname(program)
      end

      def settings
        ["PATH=#{gems}/bin:#{bin}:#{CCACHE}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
         "HOME=#{Dir.home}", "LANG=C.UTF-8", "GEM_HOME=#{gems}", "GEM_PATH=", "TMPDIR=/tmp",
         "HEAPLINE_TORTURE=short", *CCACHE_SETTINGS.map { |setting| setting.join("=") }]
      end

      # From files that were fetched once: a root needs no network and no certificates for them.
      def install_gems
        target = File.join(root, work, "tmp/gems")
        FileUtils.mkdir_p(target)
        FileUtils.cp(GemFiles.fetch, target)
        files = Dir.children(target).map { |file| "tmp/gems/#{file}" }
        ok, output = ruby("-S", "gem", "install", "--local", "--no-document", "--force", *files)
        raise Broken, "gem install failed:\n#{output}" unless ok
      end
    end
  end
end
