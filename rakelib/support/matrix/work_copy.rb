# frozen_string_literal: true

require "fileutils"

module Tasks
  module Matrix
    # A copy of the checkout without what was built in it.
    module WorkCopy
      module_function

      # Make `folder` such a copy; what was there is gone.
      def make(folder)
        FileUtils.rm_rf(folder)
        FileUtils.mkdir_p(folder)
        sources.each do |path|
          target = File.join(folder, path)
          FileUtils.mkdir_p(File.dirname(target))
          FileUtils.cp(File.join(ROOT, path), target, preserve: true)
        rescue Errno::ENOENT
          nil # another layer's, gone meanwhile
        end
      end

      # Relative paths of the files that belong to the checkout, committed or not; without git, of all but the built.
      def sources
        ok, listed = Shell.capture("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        paths = ok ? listed.split("\0") : Dir.glob("**/*", File::FNM_DOTMATCH, base: ROOT)
        paths.grep_v(%r{\A(tmp|pkg|\.git|\.bundle)/|\.(so|o)\z}).select { |path| File.file?(File.join(ROOT, path)) }
      end
    end
  end
end
