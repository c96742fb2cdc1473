# frozen_string_literal: true

require "test_helper"
require "etc"
require "open3"
require "socket"
require "tempfile"
require "heapline/cli"
require_relative "../fuzz/samples"

# What is no file of ours, has no end, or is of another version, given to every command that reads one: an answer in
# words and a status, in little memory. test/fuzz/commands_test.rb has those that are damaged.
class InputsTest < Minitest::Test
  include OwnDirectory

  COMMANDS = [%w[growth FILE], %w[heap histo FILE], %w[heap dominators FILE], %w[heap diff FILE FILE], %w[code FILE],
              %w[report FILE], %w[report --log FILE -o OUT.html FLIGHT], %w[diff FILE FLIGHT], %w[diff FLIGHT FILE],
              %w[replay FILE], %w[replay --export OUT FILE], %w[leaks --suppressions FILE true],
              %w[serve --token-file FILE none]].freeze
  # Those that are tried with gigabytes: one of each reader.
  LARGE = [%w[growth FILE], %w[heap histo FILE], %w[report FILE], %w[replay FILE],
           %w[leaks --suppressions FILE true]].freeze
  MEMORY_MOST = 1 << 31 # of address space: what grows without end meets it
  BACKTRACE = /a mistake in heapline|\.rb:\d+:in |\(\w*(?:Error|Exception)\)/

  Result = Struct.new(:status, :out, :err, keyword_init: true)

  def setup
    super
    skip "what is read hangs on no Ruby's version: one Ruby shows it" if ENV["HEAPLINE_TORTURE"] == "short"
    { "flight" => Samples.flight, "empty" => "", "log" => Samples.growth_log, "dump" => Samples.heap_dump,
      "json" => Samples.report, "hlc" => Samples.capture }.each { |name, bytes| File.binwrite(place(name), bytes) }
  end

  def test_devices_directories_and_files_of_the_kernel
    FileUtils.mkdir(place("directory"))
    UNIXServer.open(place("socket")) do
      files = %w[/dev/zero /dev/null /proc/self/mem].push(place("directory"), place("socket"), place("none"),
                                                          place("empty"))
      files.each { |file| all(file) { |words, result| refused(words, result) } }
    end
  end

  # All at once: each gives up after a while.
  def test_a_pipe_without_a_writer
    File.mkfifo(place("fifo"))
    running = COMMANDS.map { |words| [words, Thread.new { heapline(*filled(words, place("fifo"))) }] }
    running.each { |words, thread| refused(words, thread.value) }
  end

  def test_pipes_without_an_end
    { "growth -" => "yes", "growth <(FEED)" => "cat /dev/zero", "heap histo -" => "cat /dev/zero",
      "code <(FEED)" => "yes",
      "leaks --suppressions <(FEED) true" => "cat /dev/zero",
      "serve --token-file <(FEED) none" => "cat /dev/zero" }.each do |words, feed|
      refused(words, shell("#{feed} | #{command} #{words.sub("FEED", feed)}"))
    end
  end

  def test_what_unpacks_to_something_without_an_end
    Zlib::GzipWriter.open(place("bomb.gz"), Zlib::BEST_SPEED) { |gz| 20.times { gz.write("\0" * (64 << 20)) } }
    all(place("bomb.gz"), LARGE) { |words, result| refused(words, result) }
  end

  # 1 TB without a block on the disk.
  def test_a_file_of_holes
    File.open(place("holes"), "wb") { |file| file.truncate(1 << 40) }
    all(place("holes"), LARGE) { |words, result| refused(words, result) }
  end

  def test_pipes_that_are_meant
    File.binwrite(place("log.gz"), Zlib.gzip(Samples.growth_log))
    File.binwrite(place("log.zst"), Samples.zstd(Samples.growth_log))
    log = place("log")
    dump = place("dump")
    ["zcat #{log}.gz | #{command} growth -", "cat #{log}.gz | #{command} growth -", "#{command} growth <(cat #{log})",
     "#{command} growth #{log}.zst", "#{command} heap histo <(gzip -c #{dump})",
     "cat #{dump} | #{command} heap histo -",
     "#{command} report --log <(cat #{log}) --merge -o #{place("x.html")} #{place("flight")}",
     "#{command} growth - < #{log}", late(log)].each do |line|
      result = shell(line)
      assert_equal [0, ""], [result.status, result.err], line
    end
    result = shell("#{command} leaks --suppressions <(echo 'leak:x') /dev/null/none")
    assert_equal [127, "heapline: /dev/null/none: command not found\n"], [result.status, result.err]
    assert_match(/serve takes no arguments/, shell("#{command} serve --token-file <(echo secret) none").err)
  end

  def test_a_growth_log_is_no_report
    File.symlink(place("log"), place("log.jsonl"))
    [place("log"), @directory].each do |log|
      result = heapline("report", log)
      assert_equal 2, result.status
      assert_includes result.err, "#{log} is a growth log: heapline growth #{log}"
    end
  end

  def test_other_versions
    { "json" => ['"schema_version": 1', '"schema_version": 99', %w[report FILE], %w[diff FILE FLIGHT]],
      "log" => %w[heapline-growth/2 heapline-growth/99] + [%w[growth FILE], %w[diff FILE FLIGHT]],
      "dump" => ['"HEAPLINE","version":1', '"HEAPLINE","version":99', %w[heap histo FILE], %w[code FILE]],
      "hlc" => ["version\x013", "version\x019", %w[report FILE], %w[replay --export OUT FILE]] }
      .each do |name, (sound, other, *commands)|
      text = File.binread(place(name))
      text = if name == "hlc"
               Captures::Builder.rewritten(text) do |part|
                 part.sub(sound, other)
               end
             else
               text.gsub(sound, other)
             end
      File.binwrite(place("other"), text)
      commands.each do |words|
        result = heapline(*filled(words, place("other")))
        refused(words, result)
        assert_match(/version/, result.err, words)
      end
    end
  end

  def test_a_directory_that_was_deleted
    commands = { "log" => %w[growth FILE], "dump" => %w[heap histo FILE], "hlc" => %w[report FILE],
                 "json" => %w[report FILE], "flight" => %w[diff FLIGHT FILE] }
    commands.each do |name, words|
      line = "mkdir #{place("gone")}; cd #{place("gone")}; rmdir #{place("gone")}; #{command} " \
             "#{filled(words, place(name)).join(" ")}"
      result = shell(line)
      assert_equal [0, ""], [result.status, result.err], line
      refute_empty result.out
    end
  end

  private

  # Somebody writes to the pipe when it is waited for already.
  def late(log)
    pipe = place("late")
    "mkfifo #{pipe}; (#{command} growth #{pipe} & cat #{log} > #{pipe}; wait $!)"
  end

  def place(name)
    File.join(@directory, name)
  end

  def command
    "#{RbConfig.ruby} #{EXE}"
  end

  def filled(words, file)
    places = { "FILE" => file, "FLIGHT" => place("flight"), "OUT" => place("out"), "OUT.html" => place("out.html") }
    words.map { |word| places.fetch(word, word) }
  end

  def all(file, commands = COMMANDS)
    commands.each { |words| yield "#{words.join(" ")} #{file}", heapline(*filled(words, file)) }
  end

  # In a process that has the commands loaded.
  def heapline(*words)
    outputs = Array.new(2) { Tempfile.create("heapline-test", @directory) }
    pid = fork { exit!(apart(words, *outputs)) }
    ended = Process.wait2(pid).last
    out, err = outputs.map { |file| File.read(file.path, encoding: "UTF-8") }
    Result.new(status: ended.exitstatus || "signal #{ended.termsig}", out: out, err: err)
  ensure
    outputs&.each(&:close)
  end

  def apart(words, out, err)
    here = File.read("/proc/self/statm").to_i * Etc.sysconf(Etc::SC_PAGESIZE) # of the tests that ran before
    Process.setrlimit(:AS, here + MEMORY_MOST)
    $stdin.reopen(File::NULL)
    Heapline::CLI.start(words, env: { "HEAPLINE_DIR" => @directory, "PATH" => ENV.fetch("PATH") }, out: out, err: err)
  ensure
    [out, err].each(&:flush)
  end

  # The last command's status.
  def shell(line)
    started("bash", "-c", line)
  end

  def started(*words)
    environment = plain_environment(HEAPLINE_DIR: @directory, RUBYOPT: nil)
    out, err, status = Open3.capture3(environment, *words, stdin_data: "", rlimit_as: MEMORY_MOST)
    Result.new(status: status.exitstatus || "signal #{status.termsig}", out: out, err: err)
  rescue Errno::EPIPE
    retry
  end

  def refused(words, result)
    assert_includes [2, 3], result.status, "#{words}\n#{result.err}"
    assert_match(/\Aheapline: ./, result.err, words)
    refute_match BACKTRACE, result.err, words
  end
end
