# frozen_string_literal: true

require "fileutils"
require "open3"

module Bench
  # What workloads need besides Ruby: the gems of bench/Gemfile and the compiled C loops, made once for each Ruby below
  # tmp/bench/. Raises Missing with the tool's own message where one cannot be made.
  class Equipment
    class Missing < StandardError
    end

    ROOT = File.expand_path("../..", __dir__)
    GEMFILE = File.join(ROOT, "bench/Gemfile")
    # The C code that workloads and tools need.
    NATIVE = %w[pairs least].to_h { |name| [name, File.join(ROOT, "bench/workloads/native/#{name}.c")] }.freeze
    # Bundler of the Ruby in question, whatever `bundle` the PATH has.
    BUNDLER = 'load Gem.activate_bin_path("bundler", "bundle")'

    # servers: with Rails and Falcon
    def initialize(interpreter, servers: false, directory: File.join(ROOT, "tmp/bench"))
      @interpreter = interpreter
      @servers = servers
      @directory = File.join(directory, interpreter.key)
    end

    # Environment of every measured process.
    def environment
      Environment.clean.merge("BUNDLE_GEMFILE" => gemfile, "BUNDLE_PATH" => File.join(@directory, "gems"),
                              "BUNDLE_WITH" => @servers ? "servers" : nil, "BENCH_NATIVE" => library("pairs"))
    end

    def prepare
      FileUtils.mkdir_p(@directory)
      install_gems
      NATIVE.each { |name, source| compile(library(name), source) }
      self
    end

    # One of NATIVE, compiled.
    def library(name)
      File.join(@directory, "#{name}.so")
    end

    # The directory of an installed gem, nil where it is not in the bundle of this Ruby.
    def gem_directory(name)
      script = "print Bundler.load.specs.find { |spec| spec.name == #{name.inspect} }&.full_gem_path"
      out, = Open3.capture2e(environment, @interpreter.path, "-rbundler/setup", "-e", script)
      out if File.directory?(out)
    end

    private

    def gemfile
      File.join(@directory, "Gemfile")
    end

    # A copy of the Gemfile, because its lock file differs between Rubies.
    def install_gems
      FileUtils.cp(GEMFILE, gemfile) unless File.exist?(gemfile) && FileUtils.identical?(GEMFILE, gemfile)
      return if system(environment, *bundle("check"), out: File::NULL, err: File::NULL)

      build("the gems of bench/Gemfile", *bundle("install", "--jobs", "1"))
    end

    def bundle(*arguments)
      [@interpreter.path, "-e", BUNDLER, *arguments]
    end

    def compile(library, source)
      return if File.exist?(library) && File.mtime(library) >= File.mtime(source)

      build(source, ENV.fetch("CC", "cc"), "-O2", "-fPIC", "-shared", "-o", library, source)
    end

    def build(what, *command)
      out, status = Open3.capture2e(environment, *command)
      raise Missing, "cannot make #{what} for #{@interpreter.name}:\n#{out.lines.last(20).join}" unless status.success?
    rescue SystemCallError => e
      raise Missing, "cannot make #{what} for #{@interpreter.name}: #{e.message}"
    end
  end
end
