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

      # Fetches what is missing. Returns the folder.
      def fetch
        folder = File.join(CACHE, "matrix", "gem-files")
        FileUtils.mkdir_p(folder)
        GEMS.each do |name, version|
          next if File.exist?(File.join(folder, "#{name}-#{version}.gem"))

          ok, output = Shell.capture(RbConfig.ruby, "-S", "gem", "fetch", name, "-v", version,
                                     env: PlainRuby::ENVIRONMENT, dir: folder)
          raise Broken, "could not fetch #{name} #{version}:\n#{output}" unless ok
        end
        folder
      end
    end
  end
end
