# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"

# Builds the sources of test/programs with the C compiler, each once in a test run.
module NativePrograms
  SOURCES = File.expand_path("../programs", __dir__)
  DIRECTORY = Dir.mktmpdir("heapline-programs")
  # Children of other users load from here.
  File.chmod(0o755, DIRECTORY)
  Minitest.after_run { FileUtils.rm_rf(DIRECTORY) }

  HEADERS = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").flat_map { |path| ["-I", path] }.freeze

  class << self
    # A Ruby extension; its path is for `require`. headers: flags that lead to those of the Ruby that will load it
    def extension(name, headers: HEADERS)
      build(name, "#{name}.so", "-shared", "-fPIC", *headers)
    end

    # A shared object that needs nothing of Ruby, for LD_PRELOAD or to be linked with.
    def library(name)
      build(name, "lib#{name}.so", "-shared", "-fPIC", "-ldl", "-lpthread")
    end

    # An executable.
    def program(name, *flags)
      build(name, name, *flags)
    end

    private

    # Path of what was built; raises with the compiler's words.
    def build(name, target, *flags)
      source = Dir[File.join(SOURCES, "#{name}.{c,cpp}")].first or raise ArgumentError, "no test program #{name}"
      path = File.join(DIRECTORY, target)
      return path if File.exist?(path)

      compiler = source.end_with?(".cpp") ? "g++" : "gcc"
      # -O0: no compiler may leave out an allocation that looks useless.
      output, status = Open3.capture2e(compiler, "-O0", "-g", "-Wall", "-o", path, source, *flags)
      raise "#{name} does not compile:\n#{output}" unless status.success?

      path
    end
  end
end
