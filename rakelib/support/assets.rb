# frozen_string_literal: true

require "digest"
require "fileutils"
require "tmpdir"

module Tasks
  # The scripts and the style of the HTML pages: sources in assets/, the bundle in lib/heapline/page/. Packages
  # lie in the cache, one folder for each lock file.
  class Assets
    BUNDLE = "lib/heapline/page"
    FILES = %w[report.js heap.js leaks.js capture.js report.css].freeze
    # What npm needs to install, and what is bundled.
    PACKAGES = %w[package.json package-lock.json .npmrc].freeze

    class Failure < StandardError; end

    def initialize(root = ROOT)
      @root = root
    end

    # Write the bundle into `folder`. Raises Failure with what the tool said.
    def build(folder)
      FileUtils.mkdir_p(folder)
      in_workshop { |dir| run("node", "build.mjs", File.expand_path(folder, @root), dir: dir) }
    end

    # What the type checker complains of: Array of Strings.
    def complaints
      in_workshop do |dir|
        ok, output = Shell.capture("node_modules/.bin/tsc", dir: dir)
        ok ? [] : ["assets: tsc\n#{output}"]
      end
    end

    # Folder of an installed package.
    def package(name)
      File.join(packages, "node_modules", name)
    end

    private

    # A folder with the sources beside the packages: what is bundled finds them as npm's tools expect.
    def in_workshop
      Dir.mktmpdir("heapline-assets") do |dir|
        FileUtils.cp_r(Dir.glob(File.join(@root, "assets/{*,.npmrc}")).reject { |path| path.end_with?("node_modules") },
                       dir)
        File.symlink(File.join(packages, "node_modules"), File.join(dir, "node_modules"))
        yield dir
      end
    end

    # Folder in which npm has installed what the lock file names. Made beside its place and then moved there: what is
    # there is whole.
    def packages
      key = Digest::SHA256.hexdigest(PACKAGES.map { |name| File.read(File.join(@root, "assets", name)) }.join("\0"))
      folder = File.join(CACHE, "assets", key[0, 16])
      install(folder) unless File.directory?(folder)
      folder
    end

    def install(folder)
      FileUtils.mkdir_p(File.dirname(folder))
      Dir.mktmpdir("install", File.dirname(folder)) do |dir|
        new = File.join(dir, "packages")
        FileUtils.mkdir_p(new)
        FileUtils.cp(PACKAGES.map { |name| File.join(@root, "assets", name) }, new)
        run("npm", "ci", "--ignore-scripts", "--no-update-notifier", dir: new)
        File.rename(new, folder)
      rescue Errno::ENOTEMPTY, Errno::EEXIST
        raise unless File.directory?(folder) # another run was as quick
      end
    end

    def run(*command, dir:)
      ok, output = Shell.capture(*command, dir: dir)
      return if ok

      raise Failure, "#{command.first(2).join(" ")} failed (script/setup --develop installs node and npm)\n#{output}"
    end
  end
end
