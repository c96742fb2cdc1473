# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"

# Ctrl-C ends heapline with status 130 and without a word, wherever it comes from the first line on. It is planted at
# every event of the executable's own code, while files are loaded and while Ruby ends.
class InterruptTest < Minitest::Test
  CODE = [Heapline::TestHelper::EXE, File.join(Heapline::TestHelper::LIB, "heapline", "cli.rb")].freeze

  # SIGINT at event number AT, behind the last one by the last handler of all; with 0 never, and that handler tells how
  # many there were.
  PLANT = <<~RUBY
    code = ENV.fetch("CODE").split(":")
    at = Integer(ENV.fetch("AT"))
    count = 0
    events = TracePoint.new(:line, :call, :return, :c_call, :c_return) do |event|
      # Line 0: Ruby reads the file, and nothing of it has run.
      next unless event.lineno.positive? && code.include?(event.path)

      count += 1
      Process.kill(:INT, Process.pid) if count == at
    end
    at_exit { at.zero? ? $stderr.print(count) : Process.kill(:INT, Process.pid) }
    events.enable
  RUBY

  # [stderr, Process::Status] of `heapline WORDS` with an interrupt at event `at`.
  def planted(at, *words)
    environment = plain_environment("CODE" => CODE.join(":"), "AT" => at.to_s)
    ruby = [RbConfig.ruby, "--disable=gems", "-r", @plant ||= write("plant.rb", PLANT)]
    _, err, status = Open3.capture3(environment, *ruby, Heapline::TestHelper::EXE, *words)
    [err, status]
  end

  # The path of a file of this test.
  def write(name, text)
    @directory ||= Dir.mktmpdir("heapline-test")
    File.join(@directory, name).tap { |path| File.write(path, text) }
  end

  def teardown
    FileUtils.rm_rf(@directory) if @directory
    super
  end

  # Each event is an interrupt's place; words of the command's own may come before it.
  def assert_interrupted_everywhere(words, own)
    events = planted(0, *words).first[/\d+\z/].to_i
    assert_operator events, :>, 80
    wrong = (1..(events + 1)).reject do |at|
      err, status = planted(at, *words)
      status.exitstatus == 130 && ["", own].include?(err)
    end
    assert_empty wrong, "of #{events} events, as #{planted(wrong.first || 0, *words).inspect}"
  end

  def test_what_ends_well
    assert_interrupted_everywhere(%w[version], "")
  end

  def test_what_ends_with_an_error
    own = "heapline: invalid option: --unheard-of (heapline help ps)\n"
    assert_interrupted_everywhere(%w[ps --unheard-of], own)
  end

  # Ctrl-C as soon as the command waits to write.
  PRESS = <<~RUBY
    Thread.new do
      sleep 0.001 until Thread.main.stop? && Thread.main.backtrace&.first&.include?("flush")
      Process.kill(:INT, Process.pid)
    end
  RUBY

  # What could not be written is not tried again: one is enough.
  def test_the_reader_of_the_output_has_stopped
    reader, writer = IO.pipe
    nil until writer.write_nonblock("x" * 4096, exception: false) == :wait_writable
    press = write("press.rb", PRESS)
    pid = Process.spawn(plain_environment, RbConfig.ruby, "-r", press, Heapline::TestHelper::EXE, "help", out: writer)
    assert_equal 130, await("heapline did not end") { Process.wait2(pid, Process::WNOHANG)&.last }.exitstatus
  ensure
    [reader, writer].each(&:close)
  end
end
