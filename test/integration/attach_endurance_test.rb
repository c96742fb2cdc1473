# frozen_string_literal: true

require "test_helper"
require "support/verifying"

# heapline comes and goes again and again, and is killed at any step: the program goes on as before, with Ruby and
# without.
class AttachEnduranceTest < Minitest::Test
  include Verifying

  # KILL_EVERY=1: at each stop.
  EVERY = Integer(ENV.fetch("KILL_EVERY", 150))

  # [stops at system calls that a command made until it was killed or ended, was it killed?]
  def killed_at(number, command, told, *alone)
    child = fork do
      $stderr.reopen(File::NULL)
      Process.kill(:STOP, Process.pid)
      command == :attach ? session(told).attach({}) : session(told).detach
      exit!(0)
    rescue Heapline::Error
      exit!(1)
    end
    Process.wait(child, Process::WUNTRACED)
    stops = IO.popen([NativePrograms.program("fatal_call"), child.to_s, number.to_s, *alone], &:read)
    [Integer(stops), Process.wait2(child).last.signaled?]
  end

  # What the killed one began may still go on.
  def settle(told, command)
    await("#{command} fails") do
      command == :attach ? session(told).attach({}) : session(told).detach
    rescue Heapline::Attach::Session::Nothing
      true
    rescue Heapline::Error
      nil
    end
  end

  # One run: is there a step of this number?
  def survives?(number, command, told, *alone)
    settle(told, :attach) if command == :detach
    stops, killed = killed_at(number, command, told, *alone)
    assert_equal 0, told.tell.last
    %i[attach detach attach].each do |one|
      settle(told, one)
      assert_equal 0, told.tell.last
      snapshot(told)
    end
    ends_as_it_would(told)
    assert killed, "stop #{number} of #{stops}" if stops >= number && alone.empty?
    stops >= number
  end

  { "a_program" => :start_verifying, "ruby" => :start_verifying_ruby }.each do |name, start|
    %i[attach detach].each do |command|
      define_method("test_the_#{command}_of_#{name}_is_killed_at_any_system_call") do
        first = 1 + Random.new(Minitest.seed).rand(EVERY)
        killed = (first..).step(EVERY).take_while { |number| survives?(number, command, send(start)) }
        assert_operator killed.size, :>=, 250 / EVERY, "from #{first}, every #{EVERY}"
      end
    end
  end

  # The process that makes the calls of ptrace, or the one that waits for it.
  def test_one_of_the_two_processes_is_killed
    first = 1 + Random.new(Minitest.seed).rand(EVERY)
    (first..).step(EVERY).take_while { |number| survives?(number, :attach, start_verifying, "one") }
  end

  def start_idle
    start_telling(RbConfig.ruby, program(IDLE))
  end

  CYCLES = 25
  WARM = 5
  GROWTH = 500_000 # bytes; docs/attach.md

  # Bytes of memory of its own and of its flight file.
  def own_bytes(told)
    status = File.read("/proc/#{told.pid}/status")
    %w[RssAnon RssShmem].sum { |name| Integer(status[/^#{name}:\s+(\d+)/, 1]) } * 1024
  end

  # Its own memory stays as it is.
  IDLE = <<~RUBY
    $stdout.sync = true
    puts "ready"
    while $stdin.gets
      GC.start
      puts "0 0"
    end
    puts "end"
  RUBY

  { "a_program" => :start_verifying, "ruby" => :start_idle }.each do |name, start|
    define_method("test_#{name}_does_not_grow") do
      told = send(start)
      sizes = Array.new(CYCLES) do
        session(told).attach({})
        told.tell
        snapshot(told)
        session(told).detach
        own_bytes(told)
      end
      assert_operator sizes.last - sizes[WARM - 1], :<, GROWTH, sizes.inspect
      ends_as_it_would(told)
    end
  end
end
