# frozen_string_literal: true

require "test_helper"
require "support/verifying"

# Programs without Ruby that wait with a timeout: each stop leaves them in restart_syscall, whatever they waited in.
class AttachSleepingTest < Minitest::Test
  include Verifying

  # Long: a command that begins in its first half has to be over before the second one is, on a machine that does much
  # else (7 commands took more than 12 s where 15 processes waited for two processors).
  MS = 20_000

  def start_napping(how, milliseconds = MS)
    told = start_telling(NativePrograms.program("naps"), how, milliseconds.to_s)
    await("it does not sleep") { state(told.pid) == "S" }
    @began = now
    told
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)
  end

  # Each of these commands (Arrays of words), as far as there is time.
  def ask(told, *commands)
    commands.each do |words|
      break if now - @began > MS / 2

      @asked = now
      _, err, status = heapline(*words, told.pid.to_s, *Heapline::TestHelper::PATIENTLY)
      assert_predicate status, :success?, "#{words.first}: #{err}"
    end
  end

  # As without heapline: the kernel's time, no EINTR. A sleep that began anew at the last stop would end later by all
  # that was before; so the slower the machine, the later it may wake up.
  def sleeps_as_it_would(told)
    result, error, ms = told.output.gets.split.map { |text| Integer(text) }
    assert_equal [0, 0], [result, error]
    assert_includes MS..(MS + [900, (@asked - @began) / 2].max), ms
  end

  %w[poll nanosleep clock_nanosleep direct].each do |how|
    define_method("test_#{how}_is_visited_many_times_and_ends_in_time") do
      told = start_napping(how)
      ask(told, *%w[attach baseline trim baseline detach attach detach].map { |command| [command] })
      sleeps_as_it_would(told)
    end
  end

  # Its copy is made, and taken away, by the thread that sleeps.
  def test_it_is_dumped_and_ends_in_time
    told = start_napping("clock_nanosleep")
    2.times do |i|
      ask(told, ["dump", "-o", path("#{i}.core")])
      sleep 1
    end
    sleeps_as_it_would(told)
  end

  # The wait of a lock that is not one of those is refused, also when it has been stopped before.
  def test_a_lock_stays_refused
    told = start_napping("lock", 1000 * Heapline::TestHelper::PATIENCE.to_i)
    2.times do
      _, err, status = heapline("attach", "--timeout", "0.2", told.pid.to_s)
      assert_equal 3, status.exitstatus
      assert_match(/came to no safe place/, err)
    end
  end
end
