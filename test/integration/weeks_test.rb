# frozen_string_literal: true

require "json"
require "test_helper"
require "support/flight_run"
require "support/native_programs"
require "support/object_rows"
require "support/own_memory"

# A process that has lived for weeks: GCs beyond what the bits of an object's birth, of a block's and of 32-bit numbers
# can tell apart.
class WeeksTest < Minitest::Test
  include FlightRun
  include ObjectRows
  include OwnMemory

  A_GC = "GC.start(immediate_sweep: true)"
  OBJECT_BITS = 24

  # A program whose VM tells `ahead` more GCs than it has run; it may change that itself.
  def fly_weeks(text, ahead, **options)
    skip "a Ruby without a library of its own answers itself" if RbConfig::CONFIG["ENABLE_SHARED"] == "no"

    fly_objects(text, before: [NativePrograms.library("gc_ahead")], env: { "GC_AHEAD" => ahead.to_s }, **options)
  end

  def test_objects_and_blocks_are_as_old_as_ever_around_each_limit
    [20, OBJECT_BITS - 1, OBJECT_BITS, 32, 33].each do |bits|
      run = fly_weeks(<<~RUBY, (2**bits) - 4)
        class Kept; end
        def kept = 500.times { $keep << Kept.new }
        $keep = []
        kept
        $block = "x" * 100_000
        6.times { #{A_GC} }
        $keep.clear; $block = nil
        2.times { #{A_GC} }
      RUBY
      path = run.paths.fetch(0)
      kept = lines_of("Kept", run).fetch(2)
      assert_operator kept.freed, :>=, 490, "2^#{bits}: #{run.error}"
      assert_includes 6..9, kept.age_max, "2^#{bits}"
      assert_includes 6..9, kept.age_sum / kept.freed, "2^#{bits}"
      assert_equal 0, kept.temporary, "2^#{bits}"
      block = run.snapshot.sites.find { |site| site.location.to_s.end_with?("program.rb:5") }
      assert_includes 6..9, block.age_max, "2^#{bits}"
      assert_operator run.snapshot.generation, :>, 2**bits
      assert_complete(path)
    end
  end

  # Of what is older than 2^23 GCs it is known that it is: never that it is young.
  def test_an_object_that_lived_for_longer_than_its_bits_tell_is_old
    run = fly_weeks(<<~RUBY, 0)
      class Kept; end
      def kept = 500.times { $keep << Kept.new }
      $keep = []
      kept
      [23, 24, 25, 32].each do |bits|
        ENV["GC_AHEAD"] = ((1 << bits) + 3).to_s
        Array.new(10) { Object.new }
      end
      $keep.clear
      2.times { #{A_GC} }
    RUBY
    kept = lines_of("Kept", run).fetch(2)
    assert_operator kept.freed, :>=, 490, run.error
    assert_operator kept.age_sum / kept.freed, :>=, 1 << (OBJECT_BITS - 1)
    assert_equal 0, kept.temporary
    assert_complete(run.paths.fetch(0))
  end

  # Which objects are older than the baseline is known for ever.
  def test_a_baseline_of_long_ago
    run = fly_weeks(<<~RUBY, 5)
      #{ASKING.lines.join.tr("\n", ";")}
      class Kept; end
      def kept = 100.times { $keep << Kept.new }
      $keep = []
      kept
      Native.baseline
      kept
      [24, 25, 32].each do |bits|
        ENV["GC_AHEAD"] = (1 << bits).to_s
        Array.new(10) { Object.new }
        kept
      end
      $keep.clear
      2.times { #{A_GC} }
    RUBY
    kept = lines_of("Kept", run).fetch(3)
    assert_equal 500, kept.allocated
    assert_includes 90..100, kept.freed_old
    assert_operator kept.freed - kept.freed_old, :>=, 390
  end

  MADE = FlightRun.torture(9_000, 60_000, 1_000_000)

  # Three ways, each on lines of its own. The second half takes no memory of heapline's.
  def test_code_that_is_made_and_freed_a_million_times
    run, own = fly_with_pauses(<<~RUBY)
      def pause = Process.kill(:STOP, Process.pid)
      def jit = defined?(RubyVM::YJIT.code_gc) && RubyVM::YJIT.enabled? && RubyVM::YJIT.code_gc
      class Place; end
      2.times do
        pause
        #{MADE / 6}.times do |i|
          eval("proc { 'a' * 3000 }", nil, "made.rb", 7).call
          Place.class_eval("def m = 'b' * 4000", "made.rb", 17)
          Place.new.m
          Place.send(:remove_method, :m)
          Place.define_method(:d) { "c" * 5000 }
          Place.new.d
          Place.send(:remove_method, :d)
          jit if i % 5000 == 0
        end
      end
      pause
    RUBY
    { "made.rb:7" => 3001, "made.rb:17" => 4001, "program.rb:11" => 5001 }.each do |name, bytes|
      line = run.snapshot.sites.select { |site| site.location.to_s.end_with?(name) }
      made = MADE / 6 * 2
      assert_includes made..(made * 21 / 20), line.sum(&:bytes_allocated) / bytes, name
    end
    assert_operator own[2] - own[1], :<=, ROOM, own.inspect
    assert_equal 0, run.snapshot.failures.sum(&:last)
    assert_live_identity(run.paths)
  end

  # One library, and copies of it under names of their own: the names are told as long as the table has room.
  def test_libraries_that_are_loaded_and_unloaded_ten_thousand_times
    times = FlightRun.torture(200, 2_000, 10_000)
    run, own = fly_with_pauses(<<~RUBY)
      require "fiddle"
      def pause = Process.kill(:STOP, Process.pid)
      def take(path)
        library = Fiddle.dlopen(path)
        Fiddle::Function.new(library["grabber_take"], [Fiddle::TYPE_LONG], Fiddle::TYPE_VOIDP).call(10_001)
        library.close
      end
      source = #{NativePrograms.library("grabber").dump}
      one = #{File.join(workplace, "one.so").dump}
      bytes = File.binread(source)
      File.binwrite(one, bytes)
      20.times { take(one) }
      pause
      #{times}.times { take(one) }
      pause
      #{times}.times do |i|
        path = File.join(#{workplace.dump}, "copy\#{i}.so")
        File.binwrite(path, bytes)
        take(path)
        File.unlink(path)
      end
      pause
    RUBY
    sites = run.snapshot.sites.select { |site| site.bytes_allocated.positive? && (site.bytes_allocated % 10_001).zero? }
    counts = sites.to_h { |site| [site.location.library, site.allocations] }
    assert_equal times + 20, counts.delete("one.so")
    assert_equal(Array.new(times) { |i| ["copy#{i}.so", 1] }, counts.sort_by { |name, _| name[/\d+/].to_i })
    assert_operator own[1] - own[0], :<=, ROOM, own.inspect
    assert_operator own[2] - own[1], :<=, ROOM + (times * 500), own.inspect
    assert_live_identity(run.paths)
  end

  private

  # A program that stops itself: its Run, and heapline's memory in it at each stop.
  def fly_with_pauses(text)
    own = []
    run = fly(text, deadline: 900) { |pid| own << own_bytes(pid) }
    assert_predicate run.status, :success?, run.error
    [run, own]
  end
end
