# frozen_string_literal: true

module Heapline
  module Model
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
