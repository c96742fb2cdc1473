# frozen_string_literal: true

require "test_helper"
require "support/verifying"

# Programs without Ruby that wait with a timeout: each stop leaves them in restart_syscall, whatever they waited in.
class AttachSleepingTest < Minitest::Test
  include Verifying

  MS = 6000

  def start_napping(how)
    start_telling(NativePrograms.program("naps"), how, MS.to_s)
  end

  def ask(told, *commands)
    commands.each do |command|
      _, err, status = heapline(command, told.pid.to_s, *Heapline::TestHelper::PATIENTLY)
      assert_predicate status, :success?, "#{command}: #{err}"
    end
  end

  # As without heapline: the kernel's time, no EINTR.
  def sleeps_as_it_would(told)
    result, error, ms = told.output.gets.split.map { |text| Integer(text) }
    assert_equal [0, 0], [result, error]
    assert_includes MS..(MS + 900), ms
  end

  %w[poll nanosleep clock_nanosleep direct].each do |how|
    define_method("test_#{how}_is_visited_many_times_and_ends_in_time") do
      told = start_napping(how)
      ask(told, "attach", "baseline", "trim", "baseline", "detach", "attach", "detach")
      sleeps_as_it_would(told)
    end
  end

  # Its copy is made, and taken away, by the thread that sleeps.
  def test_it_is_dumped_and_ends_in_time
    told = start_napping("clock_nanosleep")
    2.times do |i|
      _, err, status = heapline("dump", "-o", path("#{i}.core"), told.pid.to_s)
      assert_predicate status, :success?, err
      sleep 1
    end
    sleeps_as_it_would(told)
  end

  # The wait of a lock that is not one of those is refused, also when it has been stopped before.
  def test_a_lock_stays_refused
    told = start_napping("lock")
    2.times do
      _, err, status = heapline("attach", "--timeout", "0.2", told.pid.to_s)
      assert_equal 3, status.exitstatus
      assert_match(/came to no safe place/, err)
    end
  end
end
