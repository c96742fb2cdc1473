# frozen_string_literal: true

require "fileutils"

module Tasks
  module Builds
    # The source of a Ruby as Debian publishes it, unpacked in the cache. apt reads lists of its own there: nothing of
    # the machine's is changed, and it need not be Debian, nor the user root.
    class DebianSource
      NEEDED = %w[apt-get apt-cache dpkg-source].freeze

      # package, suite: Debian's
      def initialize(package, suite)
        @package = package
        @folder = File.join(CACHE, "builds", "source-#{package}")
        @suite = suite
      end

      # Why it cannot be had here, or nil.
      def unavailable
        missing = NEEDED.find { |program| !Shell.which(program) }
        "#{missing} is not there" if missing && !tree
      end

      # Folder of the unpacked source; fetched where it is not there. Raises Matrix::Broken.
      def unpacked
        fetch unless tree
        tree or raise Matrix::Broken, "apt-get source #{@package} left nothing in #{@folder}"
      end

      private

      def tree
        Dir[File.join(@folder, "#{@package}-*/")].first
      end

      def fetch
        configure
        must("apt-get", "update", "-q")
        output = ""
        fetched = versions.any? do |version|
          ok, output = apt("apt-get", "source", "-q", "--only-source", "#{@package}=#{version}")
          ok
        end
        raise Matrix::Broken, "apt-get source #{@package} failed:\n#{output}" unless fetched
      end

      # A mirror may list a version that it no longer has: the newest first, then those before it.
      def versions
        must("apt-cache", "showsrc", @package).scan(/^Version: (.+)$/).flatten.uniq.reverse
      end

      def configure
        %w[lists/partial cache/archives/partial].each { |name| FileUtils.mkdir_p(File.join(@folder, name)) }
        key = "/usr/share/keyrings/debian-archive-keyring.gpg"
        signed = "[signed-by=#{key}] " if File.exist?(key)
        source = "#{signed}#{Matrix::DebianRoot::MIRROR} #{@suite}"
        File.write(File.join(@folder, "sources.list"), "deb-src #{source} main\n")
        File.write(File.join(@folder, "apt.conf"), <<~CONFIGURATION)
          Dir::Etc::SourceList "#{@folder}/sources.list";
          Dir::Etc::SourceParts "/dev/null";
          Dir::State::Lists "#{@folder}/lists";
          Dir::Cache "#{@folder}/cache";
          APT::Sandbox::User "";
          Acquire::Check-Valid-Until "false";
        CONFIGURATION
      end

      def apt(*command)
        Shell.capture(*command, env: { "APT_CONFIG" => File.join(@folder, "apt.conf") }, dir: @folder)
      end

      def must(*command)
        ok, output = apt(*command)
        raise Matrix::Broken, "#{command.join(" ")} failed:\n#{output.lines.last(20).join}" unless ok

        output
      end
    end
  end
end
