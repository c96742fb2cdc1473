# frozen_string_literal: true

require "test_helper"
require "support/live_dumps"
require "support/native_programs"

# Copies of a process that cannot be made: the command says why, and the program runs on.
class LiveDumpFailureTest < Minitest::Test
  include LiveDumps

  PROGRAM = <<~RUBY
    $held = Array.new(100) { |i| "held \#{i}" }
    trap("CHLD") { puts "SIGCHLD" }
    puts "ready"
    $stdout.flush
    sleep 0.005 while 200.times { |i| "x" * (1000 + i) } && !File.exist?(ARGV.fetch(0))
    puts "\#{$held.size} held, \#{$!.inspect}, \#{Process.wait rescue $!.class}"
    exit 3
  RUBY
  WORDS = { Errno::ENOMEM => /there is not enough memory for a copy of the process \(fork: ENOMEM\)/,
            Errno::EAGAIN => /no more processes may be made \(fork: EAGAIN\)/ }.freeze

  def setup
    super
    surroundings = environment(NO_FORK: path("errno"), LD_PRELOAD: NativePrograms.library("no_fork"))
    command = heapline_command("--quiet", RbConfig.ruby, program(PROGRAM), path("enough"))
    @pid = Process.spawn(surroundings, *command, out: path("out"), err: path("err"))
    @processes << @pid
    await("the program is not ready") { File.read(path("out")).include?("ready") }
  end

  def test_fork_fails
    WORDS.each do |error, words|
      File.write(path("errno"), error::Errno.to_s)
      out, err, status = heapline("heap", "dump", *PATIENTLY, "-o", path("none"), @pid.to_s)
      assert_equal ["", 3], [out, status.exitstatus]
      assert_match(/\Aheapline: process #{@pid}: #{words}$/, err.lines.last)
      refute_path_exists path("none")
    end
    File.delete(path("errno"))
    dump_of(@pid)
    File.write(path("enough"), "")
    assert_equal 3, Process.wait2(@pid).last.exitstatus
    assert_equal ["ready\n100 held, nil, Errno::ECHILD\n", ""], [File.read(path("out")), File.read(path("err"))]
  end
end
