# frozen_string_literal: true

require "minitest/autorun"
require "fileutils"
require "open3"
require "rbconfig"
require "shellwords"
require "tmpdir"

# The gem as a user gets it: built without git, installed where nothing else is, used from anywhere.
class PackageTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  SOURCES = %w[heapline.gemspec lib exe ext sig examples docs LICENSE README.md CHANGELOG.md].freeze

  def run_in(dir, *command, env: {})
    output, status = Open3.capture2e(env, *command, stdin_data: "", chdir: dir)
    [output, status]
  end

  # A copy of the sources without git and without what was compiled.
  def in_copy
    Dir.mktmpdir("heapline-package") do |dir|
      copy = File.join(dir, "copy")
      FileUtils.mkdir_p(copy)
      FileUtils.cp_r(SOURCES.map { |name| File.join(ROOT, name) }.select { |path| File.exist?(path) }, copy)
      FileUtils.rm_f(Dir[File.join(copy, "lib/heapline/*.so")])
      yield dir, copy
    end
  end

  def test_installs_into_an_empty_home_and_runs_from_there
    in_copy do |dir, copy|
      home = { "GEM_HOME" => File.join(dir, "home"), "GEM_PATH" => File.join(dir, "home"), "RUBYOPT" => nil }
      package = File.join(dir, "heapline.gem")
      output, status = run_in(copy, RbConfig.ruby, "-S", "gem", "build", "heapline.gemspec", "-o", package, env: home)
      assert_predicate status, :success?, output

      output, status = run_in(dir, RbConfig.ruby, "-S", "gem", "install", "--local", "--no-document", package,
                              env: home)
      assert_predicate status, :success?, output

      FileUtils.rm_rf(copy)
      heapline = File.join(dir, "home/bin/heapline")
      output, status = run_in(dir, RbConfig.ruby, heapline, RbConfig.ruby, "-e", "$kept = 'x' * 1_000_000; puts 42",
                              env: home)
      assert_predicate status, :success?, output
      assert_match(/^42$/, output)
      assert_match(/-e:1/, output)

      output, status = run_in(dir, RbConfig.ruby, heapline, "-o", "run.html", RbConfig.ruby, "-e", "42", env: home)
      assert_predicate status, :success?, output
      assert_match(%r{<style>.+</style>.+<script>.+</script>}m, File.read(File.join(dir, "run.html")))

      output, status = run_in(dir, RbConfig.ruby, "-e", HEAP, env: home)
      assert_predicate status, :success?, output

      output, = run_in(dir, RbConfig.ruby, "-e", REPLAYER, env: home)
      assert_match(/"allocator":"/, output)
    end
  end

  # A program that reads a dump of itself.
  HEAP = <<~RUBY
    require "heapline/heap_dump"
    require "objspace"
    ObjectSpace.dump_all(output: File.open("heap.json", "w"))
    exit Heapline::HeapDump.open("heap.json").histogram.any? { |group| group.key == "String" }
  RUBY

  # Is the replayer there, and can it be executed?
  REPLAYER = "require 'heapline/replay'; exec Heapline::Replay::Replayer.program, '--about'"

  # A compiler before the real one that does not know a library. What it hands on to may be a wrapper like ccache, which
  # looks for the compiler in PATH itself: it must not find this one again.
  def without(library, dir, compiler: "CC")
    name = RbConfig::CONFIG[compiler].split.first
    fake = File.join(dir, "bin", File.basename(name))
    FileUtils.mkdir_p(File.dirname(fake))
    File.write(fake, <<~SH)
      #!/bin/sh
      grep -qs #{library} conftest.* && exit 1
      case "$*" in *-l#{library}*) exit 1 ;; esac
      PATH=#{ENV.fetch("PATH").shellescape}
      exec #{name} "$@"
    SH
    File.chmod(0o755, fake)
    { "PATH" => "#{File.dirname(fake)}:#{ENV.fetch("PATH")}" }
  end

  def test_a_missing_liburcu_is_one_message_that_names_the_package_everywhere
    Dir.mktmpdir("heapline-package") do |dir|
      extconf = File.join(ROOT, "ext/heapline_core/extconf.rb")
      output, status = run_in(dir, RbConfig.ruby, extconf, env: without("urcu", dir))

      refute_predicate status, :success?
      ["apt-get install liburcu-dev", "dnf install userspace-rcu-devel", "apk add userspace-rcu-dev",
       "pacman -S liburcu"].each { |remedy| assert_includes output, remedy }
      refute_path_exists File.join(dir, "Makefile")
    end
  end

  # The gem is installed all the same; the remedies are named.
  def assert_installed_without(library, extension, *remedies, compiler:)
    Dir.mktmpdir("heapline-package") do |dir|
      extconf = File.join(ROOT, "ext", extension, "extconf.rb")
      output, status = run_in(dir, RbConfig.ruby, extconf, env: without(library, dir, compiler: compiler))
      assert_predicate status, :success?, output
      remedies.each { |remedy| assert_includes output, remedy }

      output, status = run_in(dir, "make", "install")
      assert_predicate status, :success?, output
      assert_empty Dir[File.join(dir, "*.{o,so}")]
    end
  end

  def test_without_simdjson_there_are_no_heap_dumps
    assert_installed_without("simdjson", "heapline_heap", "apt-get install g++ libsimdjson-dev",
                             "dnf install gcc-c++ simdjson-devel", "apk add g++ simdjson-dev",
                             "pacman -S gcc simdjson", compiler: "CXX")
  end

  def test_without_zstd_there_is_no_recording
    assert_installed_without("zstd", "heapline_capture", "apt-get install g++ libzstd-dev",
                             "dnf install gcc-c++ libzstd-devel", "apk add g++ zstd-dev", "pacman -S gcc zstd",
                             compiler: "CC")
  end
end
