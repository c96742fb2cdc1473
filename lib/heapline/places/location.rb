# frozen_string_literal: true

module Heapline
  module Places
    # Where memory was asked for, in printable form. A frozen plain value, made with keywords, or, by those that make
    # many, with all values in order.
    #
    # path::          Ruby file as __FILE__ has it, or nil
    # lineno::        line in it, or nil
    # label::         method label, for native code "symbol+0x12"; nil where unknown
    # library::       base name of the shared object that called malloc; nil: the Ruby VM itself
    # library_path::  the same with its directory, where the flight file has it
    # symbol::        native code: the nearest exported symbol, or nil
    # offset::        native code: the caller's address in its library; LOADING of what a line took to load code
    # special::       "(other)", "(YJIT)" … where there is neither a file nor a library
    # @api public
    Location = Struct.new(:path, :lineno, :label, :library, :library_path, :symbol, :offset, :special) do
      const_set(:LOADING, 1)
      const_set(:STAGES, %w[(start-up) (loading)].freeze)

      def initialize(*values, **fields)
        super(*values)
        fields.each { |name, value| self[name] = value }
        freeze
      end

      # "app.rb:12", "libxml2.so.2+0x1f30", "ruby+0x1f30" for the VM itself, or "(other)".
      def to_s
        return special if special
        return "#{path}:#{lineno}" if path

        format("%<library>s+0x%<offset>x", library: library || "ruby", offset: offset || 0)
      end

      # Like to_s, followed by "via libxml2.so.2" where another library than Ruby called malloc for a Ruby line.
      def name
        via ? "#{self} via #{via}" : to_s
      end

      # The library that called malloc on behalf of a Ruby line, or of what is special; nil where that was the VM.
      def via
        library if path || special
      end

      # The same line, of no one library.
      def without_library
        path || special ? Location.new(path: path, lineno: lineno, label: label, special: special) : self
      end

      # Is it the VM's JIT compiler, which allocates for itself whatever line runs?
      def jit?
        %w[(YJIT) (ZJIT) (JIT)].include?(special)
      end

      # Is it no line of the program, but what the VM took for itself or for loading code?
      def vm?
        jit? || Location::STAGES.include?(special)
      end

      # "(start-up)" of what the VM takes before the program's first line, "(loading)" of what finding and loading code
      # takes, else nil. Told by the names alone.
      def stage
        require "heapline/native" unless defined?(Native.stage)
        Native.stage(path, lineno, label, library_path || library, offset == Location::LOADING) unless special
      end

      # The gem that the file (without one: the library) belongs to; "ruby stdlib", "ruby core", "system libraries", or
      # nil: the application.
      def gem
        return GemName::CORE if jit?
        return GemName.of(path) if path || special

        GemName.of_library(library_path || library)
      end
    end

    # "libz.so" of "/usr/lib/libz.so", whatever bytes a file or a program has in place of a path: File.basename refuses
    # NUL.
    module BaseName
      # nil of nil.
      def self.of(path)
        path && path.b.rpartition("/").last.force_encoding(path.encoding)
      end
    end

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

    # A location without what changes from deploy to deploy, so that the same line of two releases, images or gem
    # versions is one. For comparing, not for showing.
    module NormalisedLocation
      # …/gems/rack-3.0.8/lib/…, …/gems/nokogiri-1.16.0-x86_64-linux/…, …/extensions/PLATFORM/ABI/rack-3.0.8/…: the
      # gem's name and what follows, wherever the bundle lies.
      GEM = %r{\A.*/(?:gems|extensions/[^/]+/[^/]+)/([^/]+?)-\d+(?:\.[^/]*)?/}
      GIT_GEM = %r{\A.*/bundler/gems/([^/]+)-\h{7,40}/}
      # Ruby's own files, of any version and in any place.
      RUBY_OWN = %r{\A.*/lib/(?:[^/]+/)?ruby/(?:\d+\.\d+\.\d+|vendor_ruby|site_ruby)/}
      # The layers of a container, seen from outside of it.
      CONTAINER = %r{\A.*(?:/overlay2?/\h{64}/(?:merged|diff)|/rootfs|/proc/\d+/root)/}
      # Where build packs compile what they install as /app.
      BUILD = %r{\A/tmp/build_\h+/}
      # Of nix packages the hash.
      NIX = %r{/nix/store/[0-9a-z]{32}-}
      # A folder that is, or ends with, a time of at least a day's precision or a commit: releases/20260101120000,
      # app-4f2a91c0d3be.
      RELEASE = %r{(?<=/)([^/]*?[-_.])?(?:\d{8,17}|(?=[^/]*\d)\h{12,64})(?=/)}
      CAPISTRANO = %r{/releases/[^/]+/|/current/}
      LIBRARY_VERSION = /(?:-\d+(?:\.\d+)*)?\.so(?:\.\d+)*/

      # `location` as Location#to_s prints it.
      def self.of(location)
        text = location.b.sub(CONTAINER, "/")
        text = text.sub(GIT_GEM, 'gems/\1/').sub(GEM, 'gems/\1/').sub(RUBY_OWN, "ruby/")
        text = text.sub(BUILD, "/app/").sub(NIX, "/nix/store/").sub(CAPISTRANO, "/releases/*/").gsub(RELEASE, '\1*')
        text.force_encoding(Encoding::UTF_8)
      end

      # A library's base name without versions: libxml2.so.2.9.14 and libxml2.so.16 are libxml2.so.
      def self.library(name)
        name.b.sub(LIBRARY_VERSION, ".so").force_encoding(Encoding::UTF_8)
      end

      # Native code moves in its library from version to version: a symbol is compared without its offset, an address
      # without a symbol only within the same version.
      def self.native(location, label, library)
        return of(location) if label.nil? || label.empty?

        "#{library(library || location)} #{label.sub(/\+0x\h+\z/, "")}"
      end
    end
  end
end
