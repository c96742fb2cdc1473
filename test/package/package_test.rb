# frozen_string_literal: true

require "minitest/autorun"
require "fileutils"
require "open3"
require "rbconfig"
require "shellwords"
require "tmpdir"
require_relative "../../rakelib/support"

# The gem as a user gets it: built without git, installed where nothing else is, used from anywhere.
class PackageTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  SOURCES = %w[heapline.gemspec lib exe ext sig examples docs man LICENSE README.md CHANGELOG.md].freeze

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

  def gem_files
    Dir.chdir(ROOT) { Gem::Specification.load("heapline.gemspec").files }
  end

  # Nothing that is needed is forgotten, and nothing comes along that lies about.
  def test_the_gem_has_what_is_tracked
    skip "this is no checkout" unless File.exist?(File.join(ROOT, ".git"))

    tracked, = run_in(ROOT, "git", "ls-files", *(SOURCES - %w[heapline.gemspec]))
    wanted = tracked.lines(chomp: true).grep_v(LEFT_OUT)
    assert_equal [[], []], [wanted - gem_files, gem_files - wanted], "missing, and too many"
  end

  LEFT_OUT = %r{\Adocs/images/}

  # Every command of the table, from an empty GEM_HOME alone.
  def test_installs_into_an_empty_home_and_runs_from_there
    in_copy do |dir, copy|
      @home = { "GEM_HOME" => File.join(dir, "home"), "GEM_PATH" => File.join(dir, "home"), "RUBYOPT" => nil,
                "HEAPLINE_DIR" => File.join(dir, "flights"), "BUNDLE_GEMFILE" => nil, "RUBYLIB" => nil }
      package = File.join(dir, "heapline.gem")
      assert_runs copy, RbConfig.ruby, "-S", "gem", "build", "heapline.gemspec", "-o", package
      assert_runs dir, RbConfig.ruby, "-S", "gem", "install", "--local", "--no-document", package
      FileUtils.rm_rf(copy)

      run_programs(dir)
      run_commands(dir)
      assert_match(/"allocator":"/, assert_runs(dir, RbConfig.ruby, "-e", REPLAYER))
      assert_runs dir, RbConfig.ruby, "-e", HEAP
    end
  end

  # It names each file of the gem, with the checksum that the file has here.
  def test_the_bill_of_materials
    in_copy do |dir, copy|
      @home = { "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil }
      package = File.join(dir, "heapline.gem")
      assert_runs copy, RbConfig.ruby, "-S", "gem", "build", "heapline.gemspec", "-o", package
      bill = Tasks::BillOfMaterials.new(package, objects: [Tasks::CORE]).to_h
      files, libraries = bill[:components].partition { |one| one[:type] == "file" }
      assert_equal gem_files.sort, files.map { |one| one[:name] }.sort
      version = files.find { |one| one[:name] == "lib/heapline/version.rb" }
      here = File.join(ROOT, "lib/heapline/version.rb")
      assert_equal Digest::SHA256.file(here).hexdigest, version[:hashes][0][:content]
      assert_equal Digest::SHA512.file(package).hexdigest, bill[:metadata][:component][:hashes][1][:content]
      assert_includes libraries.map { |one| one[:name] }, "libc.so.6"
    end
  end

  def run_programs(dir)
    output = assert_runs(dir, *heapline(dir), RbConfig.ruby, "-e", "$kept = 'x' * 1_000_000; puts 42")
    assert_match(/^42$/, output)
    assert_match(/-e:1/, output)
    assert_runs dir, *heapline(dir), "-o", "run.html", RbConfig.ruby, "-e", "42"
    assert_match(%r{<style>.+</style>.+<script>.+</script>}m, File.read(File.join(dir, "run.html")))
  end

  # A command => its words, in an order in which each finds what the one before has left. PID: a process that runs; ASK:
  # the same where the command waits for its answer; OFF: one that counts nothing yet. What follows a
  # |: it is ended by Ctrl-C once that has been written.
  COMMANDS = {
    "help" => "", "version" => "", "doctor" => "", "env" => "", "completion" => "bash", "heap" => "", "ps" => "",
    "run" => "-o run.heapline RUBY -e 42", "report" => "run.heapline -o report.html",
    "diff" => "run.heapline run.heapline", "snapshot" => "PID -o now.heapline", "top" => "--once PID", "rss" => "ASK",
    "trim" => "ASK", "attach" => "OFF", "detach" => "OFF", "baseline" => "ASK",
    "log" => "--every 0.1 -o log.jsonl PID | log.jsonl",
    "growth" => "log.jsonl", "serve" => "--port 0 | heapline serves", "stack" => "ASK",
    "pages" => "ASK", "code" => "ASK", "heap dump" => "ASK -o a.json", "heap histo" => "a.json",
    "heap stat" => "a.json", "heap diff" => "a.json a.json", "heap find" => "a.json Hash",
    "heap dominators" => "a.json", "heap graph" => "a.json -o a.dot", "heap report" => "a.json -o a.html",
    "test" => "--fail-on growth,leaks -o suite.json RUBY -e 42", "leaks" => "-o leaks.html RUBY -e 42",
    "record" => "-o run.hlc --native --objects RUBY -e 42", "replay" => "run.hlc --allocator glibc",
    "dump" => "PID -o it.core", "core" => "it.core"
  }.freeze

  def run_commands(dir)
    require File.join(ROOT, "lib/heapline/cli")
    assert_equal Heapline::CLI::COMMANDS.keys.sort, COMMANDS.keys.sort
    with_program(dir) do |pid|
      off = program(dir, "--off")
      COMMANDS.each do |name, words|
        words = words.sub("ASK", "--timeout 300 PID").sub("PID", pid.to_s).sub("RUBY", RbConfig.ruby)
                     .sub("OFF", "--timeout 300 #{off}")
        words, sign = words.split(" | ")
        command = [*heapline(dir), *name.split, *words.to_s.split]
        sign ? assert_goes_on(dir, command, sign) : assert_runs(dir, *command)
      end
    end
  end

  BUSY = "puts 'ready'; $stdout.flush; loop { sleep 0.005; Array.new(50) { |i| i.to_s * 9 } }"

  def with_program(dir)
    yield program(dir, "--objects", "--blocks")
  ensure
    @programs.each do |pid|
      Process.kill(:KILL, pid)
      Process.wait(pid)
    end
  end

  # The pid of one that runs.
  def program(dir, *options)
    reader, writer = IO.pipe
    pid = Process.spawn(@home, *heapline(dir), "--quiet", *options, RbConfig.ruby, "-e", BUSY, out: writer)
    (@programs ||= []) << pid
    writer.close
    assert_equal "ready\n", reader.gets
    pid
  end

  # It runs until Ctrl-C, which comes when it has made a file of that name or said that.
  def assert_goes_on(dir, command, sign)
    said = File.join(dir, "said")
    pid = Process.spawn(@home, *command, chdir: dir, %i[out err] => [said, "w"])
    until File.size?(File.join(dir, sign)) || File.read(said).include?(sign)
      refute Process.wait(pid, Process::WNOHANG), "#{command.join(" ")}: #{File.read(said)}"
      sleep 0.02
    end
    Process.kill(:INT, pid)
    assert_predicate Process.wait2(pid).last, :success?, "#{command.join(" ")}: #{File.read(said)}"
  end

  # What it said.
  def assert_runs(dir, *command)
    output, status = run_in(dir, *command, env: @home)
    assert_predicate status, :success?, "#{command.join(" ")}: #{output}"
    output
  end

  def heapline(dir)
    [RbConfig.ruby, File.join(dir, "home/bin/heapline")]
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

  def test_without_libelf_there_are_no_core_files
    assert_installed_without("elf", "heapline_corefile", "apt-get install g++ libelf-dev zlib1g-dev libzstd-dev",
                             "dnf install gcc-c++ elfutils-libelf-devel zlib-devel libzstd-devel",
                             "apk add g++ elfutils-dev zlib-dev zstd-dev", "pacman -S gcc libelf zlib zstd",
                             compiler: "CC")
  end

  def test_without_zstd_there_is_no_recording
    assert_installed_without("zstd", "heapline_capture", "apt-get install g++ libzstd-dev",
                             "dnf install gcc-c++ libzstd-devel", "apk add g++ zstd-dev", "pacman -S gcc zstd",
                             compiler: "CC")
  end
end
