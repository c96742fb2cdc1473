# frozen_string_literal: true

require "fileutils"

module Tasks
  module Matrix
    # The gems without which nothing can be compiled or tested, as files in the cache.
    module GemFiles
      GEMS = { "rake" => "13.2.1", "rake-compiler" => "1.3.0", "minitest" => "5.25.5",
               "datadog-ruby_core_source" => "3.5.6", "rspec-core" => "3.13.6",
               "rspec-expectations" => "3.13.5", "rspec-support" => "3.13.7", "diff-lcs" => "1.6.2",
               "memory_profiler" => "1.1.0" }.freeze

      module_function

      # Fetches what is missing; several Rubies are prepared at once. Returns their paths.
      def fetch
        folder = File.join(CACHE, "matrix", "gem-files")
        files = GEMS.map { |gem| File.join(folder, "cache", "#{gem.join("-")}.gem") }
        FileUtils.mkdir_p(folder)
        File.open(folder) do |one|
          one.flock(File::LOCK_EX)
          fetch_into(folder) unless files.all? { |file| File.exist?(file) }
        end
        files
      end

      # `gem install` keeps what it fetched. `gem fetch` would read the list of all gems that there are, for each.
      def fetch_into(folder)
        ok, output = Shell.capture(RbConfig.ruby, "-S", "gem", "install", "--no-document", "--ignore-dependencies",
                                   "--install-dir", folder, *GEMS.map { |gem| gem.join(":") },
                                   env: PlainRuby::ENVIRONMENT)
        raise Broken, "could not fetch gems:\n#{output}" unless ok
      end
      private_class_method :fetch_into
    end
  end
end
