# frozen_string_literal: true

module Heapline
  module Model
    # Which gem a file or library belongs to, from its path alone: the process may be gone and its gems uninstalled.
    module GemName
      STDLIB = "ruby stdlib"
      CORE = "ruby core"
      SYSTEM = "system libraries"

      # A gem from git: …/bundler/gems/NAME-0123456789ab/…
      GIT_GEM = %r{/bundler/gems/([^/]+)-\h{7,40}/}
      # An installed one: …/gems/NAME-1.2.3/…, …/gems/NAME-1.2.3-x86_64-linux/…, …/extensions/PLATFORM/ABI/NAME-1.2.3/…
      GEM = %r{/(?:gems|extensions/[^/]+/[^/]+)/([^/]+?)-\d+(?:\.[^/]*)?/}
      # Ruby's own: …/lib/ruby/3.1.0/…, …/lib/ruby/vendor_ruby/…, …/lib/x86_64-linux-gnu/ruby/3.1.0/…
      RUBY_OWN = %r{/lib/(?:[^/]+/)?ruby/(?:(?:gems/)?\d+\.\d+\.\d+|vendor_ruby|site_ruby)/}
      # The VM itself, as a program or a library.
      RUBY = %r{/(?:libruby[^/]*\.so[^/]*|ruby[\d.]*)\z}
      SYSTEM_PLACE = %r{\A(?:/usr|/lib|/lib64|/nix|linux-vdso)(?:/|\b)}

      # Name of the gem (String); nil where the path is the application's, or nil.
      def self.of(path)
        return nil if path.nil?

        path = path.b
        return CORE if path.start_with?("<internal:")

        found = path[GIT_GEM, 1] || last_match(path)
        return found.dup.force_encoding(Encoding::UTF_8) if found

        STDLIB if path.match?(RUBY_OWN)
      end

      # The same of a shared object, for native code without a Ruby line; a library without a path is the VM itself.
      def self.of_library(path)
        path = path&.b
        return CORE if path.nil? || path.match?(RUBY)

        of(path) || (SYSTEM if path.match?(SYSTEM_PLACE))
      end

      # The last match: …/gems/bundler-2.3/…/gems/rake-13.0.6/lib belongs to rake.
      def self.last_match(path)
        path.scan(GEM).last&.first
      end
      private_class_method :last_match
    end
  end
end
