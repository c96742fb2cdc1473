# frozen_string_literal: true

require "etc"
require "fileutils"

module Tasks
  module Builds
    # A Ruby that is built from source and kept in the cache: a version's base; a kind of it, configured otherwise; or a
    # mutant, whose structs a patch has changed. Of each only the program is built, which needs no library for what the
    # tests do. A mutant begins with the built tree of its base, which is why that tree is kept.
    class Build
      # What differs between mutants is no matter of speed, and the compiler is the faster.
      FLAGS = %w[--disable-install-doc --disable-yjit].freeze
      PLAIN = %w[optflags=-O0 debugflags=].freeze

      attr_reader :name

      # flags: of configure; patch: file of a mutant; base: the Build that is before it; finish: a command that changes
      # the program, whose path it gets; collector: the GC that it is to load ("default")
      def initialize(source, name, flags: PLAIN, patch: nil, base: nil, finish: nil, collector: nil)
        @source = source
        @name = name
        @flags = flags
        @patch = patch
        @base = base
        @finish = finish
        @collector = collector
      end

      def program
        File.join(folder, "ruby")
      end

      # What the tests are run with.
      def environment
        { "HEAPLINE_TEST_RUBY" => program, "HEAPLINE_TEST_HEADERS" => headers.join(":"),
          "RUBY_GC_LIBRARY" => @collector }
      end

      def unavailable
        @source.unavailable
      end

      # Raises Matrix::Broken with what the compiler said.
      def make
        return if File.exist?(program)

        @base&.make
        puts "#{@name}: building"
        @patch ? mutate : configure
        run("make", "-s", "-j#{Etc.nprocessors}", "ruby")
        run("make", "-s", "install-modular-gc", "MODULAR_GC=#{@collector}") if @collector
        run(*@finish, "ruby") if @finish
        FileUtils.cp(File.join(tree, "ruby"), program)
        FileUtils.rm_rf(tree) if @base
      end

      protected

      def tree
        File.join(folder, "tree")
      end

      # Folders of the public headers, which no patch changes.
      def headers
        return @base.headers if @base

        [File.join(tree, "include"), *Dir[File.join(tree, ".ext/include/*-*")]]
      end

      private

      def folder
        File.join(CACHE, "builds", @name)
      end

      def mutate
        copy(@base.tree)
        run("patch", "-s", "-p1", "-i", @patch)
      end

      # Debian's patches make configure look older than what it is made from.
      def configure
        copy(@source.unpacked)
        FileUtils.touch(File.join(tree, "configure"))
        modular = "--with-modular-gc=#{File.join(folder, "gc")}" if @collector
        run("./configure", "-q", "--prefix=#{folder}", *FLAGS, *@flags, *modular)
      end

      def copy(from)
        FileUtils.rm_rf(folder)
        FileUtils.mkdir_p(folder)
        FileUtils.cp_r(from, tree, preserve: true)
      end

      def run(*command)
        ok, output = Shell.capture("nice", "-n", "19", *command, env: PlainRuby::ENVIRONMENT, dir: tree)
        raise Matrix::Broken, "#{command.join(" ")} failed:\n#{output.lines.last(30).join}" unless ok
      end
    end
  end
end
