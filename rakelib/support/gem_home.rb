# frozen_string_literal: true

module Tasks
  # Gems that heapline is tried on, beside those of the Gemfile: installed on first use, below the cache.
  module GemHome
    module_function

    def path
      File.join(CACHE, "gem-suites", RbConfig::CONFIG["ruby_version"])
    end

    # GEM_PATH with these gems before this Ruby's own.
    def gem_path
      [path, *PlainRuby.gem_path].join(":")
    end

    # Folder of the unpacked gem, installed with what it depends on where it is missing. flags: of `gem install`, what
    # is behind "--" is for the build of its extension.
    def install(name, version, *flags)
      dir = File.join(path, "gems", "#{name}-#{version}")
      return dir if Dir[File.join(path, "specifications", "#{name}-#{version}{,-x86_64-linux}.gemspec")].any?

      ok, output = Shell.capture(RbConfig.ruby, "-S", "gem", "install", "--no-document", "--install-dir", path,
                                 name, "-v", version, *flags, env: PlainRuby::ENVIRONMENT)
      abort "could not install #{name} #{version}:\n#{output}" unless ok
      dir
    end

    # Folder of the gem's compiled extensions, nil without any.
    def extensions(dir)
      Dir.glob(File.join(path, "extensions/*/*", File.basename(dir))).first
    end
  end
end
