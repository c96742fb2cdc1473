# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/live_dumps"

# Copies of a process while other Ractors wait, compute and allocate.
class LiveDumpRactorsTest < Minitest::Test
  include LiveDumps

  # The Ractors allocate little: Ruby 3.3 and 3.4 by themselves do not survive much of that.
  PROGRAM = <<~RUBY
    $VERBOSE = nil
    class Made; def initialize(number) = @name = "made \#{number}"; end
    READY, SAID = IO.pipe
    def tell(fd) = IO.for_fd(fd, autoclose: false).syswrite(".")
    Ractor.new(SAID.fileno) { |fd| tell(fd); Ractor.receive }
    Ractor.new(SAID.fileno) { |fd| tell(fd); number = 0; number += 1 while true }
    Ractor.new(SAID.fileno) do |fd|
      kept = Array.new(100) { |number| Made.new(number) }
      tell(fd); loop { kept[rand(100)] = Made.new(rand(1000)); "x" * 5000; sleep 0.002 }
    end
    READY.read(3)
    puts "ready"
    $stdout.flush
    loop { sleep 0.005; "x" * 5000 }
  RUBY
  THREADS = 4

  def setup
    super
    @pid, = start(program(PROGRAM))
  end

  def test_dumps
    skip "Ruby #{RUBY_VERSION} does not stop Ractors" if RUBY_VERSION < "3.3"
    FlightRun.torture(2, 6, 300).times do
      lines = dump_of(@pid)
      assert_equal(THREADS, lines.count { |line| line["struct"] == "VM/thread" })
      classes = lines.select { |line| line["name"] == "Made" }.map { |line| line["address"] }
      assert_operator lines.count { |line| classes.include?(line["class"]) }, :>=, 100
    end
    assert_empty twins_of(@pid)
  end

  def test_stacks
    skip "Ruby #{RUBY_VERSION} does not stop Ractors" if RUBY_VERSION < "3.3"
    out, err, status = heapline("stack", "--format", "json", *PATIENTLY, @pid.to_s)
    assert status.success?, err
    lines = JSON.parse(out)["stacks"].map { |stack| stack["backtrace"].last[/program\.rb:(\d+)/, 1].to_i }
    assert_equal [5, 6, 9, 14], lines.sort
  end

  # The program goes on as if nobody had asked.
  def test_ruby_3_1_is_refused
    skip "only Ruby 3.1 and 3.2" unless RUBY_VERSION < "3.3"
    3.times do
      _, err, status = heapline("heap", "dump", *PATIENTLY, "-o", path("none"), @pid.to_s)
      assert_equal 3, status.exitstatus
      assert_match(/process #{@pid}: it runs other Ractors/, err)
    end
    refute_path_exists path("none")
    assert_nil Process.wait(@pid, Process::WNOHANG)
  end
end
