# frozen_string_literal: true

require "digest"
require "fileutils"
require "open3"
require "rbconfig"
require "tmpdir"

# Builds the sources of test/programs with the C compiler, each once for all test runs of the checkout, until a source
# changes.
module NativePrograms
  ROOT = File.expand_path("../..", __dir__)
  SOURCES = File.join(ROOT, "test/programs")
  # What they are built of, with what they include.
  USED = [SOURCES, *%w[core capture].map { |name| File.join(ROOT, "ext/heapline_#{name}") }].freeze
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
    def library(name, *flags, file: "lib#{File.basename(name)}.so")
      build(name, file, "-shared", "-fPIC", *flags, "-ldl", "-lpthread")
    end

    # An executable, for each set of flags another.
    def program(name, *flags)
      FileUtils.mkdir_p(File.join(DIRECTORY, kind = Digest::SHA256.hexdigest(flags.join("\0"))[0, 8]))
      build(name, File.join(kind, File.basename(name)), *flags)
    end

    private

    # Path of what was built; raises with the compiler's words.
    def build(name, target, *flags)
      source = Dir[File.join(SOURCES, "#{name}.{c,cpp}")].first or raise ArgumentError, "no test program #{name}"
      path = File.join(DIRECTORY, target)
      return path if File.exist?(path)

      # -O0: no compiler may leave out an allocation that looks useless.
      command = [source.end_with?(".cpp") ? "g++" : "gcc", "-O0", "-g", "-Wall", source, *flags]
      kept = File.join(ROOT, "tmp/programs", Digest::SHA256.hexdigest([state, *command].join("\0")))
      compile(name, command, kept) unless File.exist?(kept)
      FileUtils.cp(kept, path)
      path
    end

    # Runs may do so at once.
    def compile(name, command, kept)
      FileUtils.mkdir_p(File.dirname(kept))
      output, status = Open3.capture2e(*command, "-o", fresh = "#{kept}.#{Process.pid}")
      raise "#{name} does not compile:\n#{output}" unless status.success?

      File.rename(fresh, kept)
    end

    def state
      @state ||= USED.flat_map { |folder| Dir[File.join(folder, "**/*.{c,cpp,h,hpp}")] }.sort
                     .map { |file| Digest::SHA256.file(file).hexdigest }.join
    end
  end
end
