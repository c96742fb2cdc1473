# frozen_string_literal: true

require "test_helper"
require "support/answers"

# The Ruby API in real processes under accounting.
class ApiTest < Minitest::Test
  include Answers

  BLOCKS = <<~RUBY
    require "fiddle"
    def take(count) = Array.new(count) { Fiddle.malloc(1000) } # line 3
    HERE = "\#{__FILE__}:3"
    take(5).each { |block| Fiddle.free(block) }
  RUBY

  def test_each_yields_what_a_line_counted
    found = ask(<<~RUBY)
      #{BLOCKS}
      GC.disable # one that begins at that line takes and frees a mark stack there
      Heapline.clear
      blocks = take(100)
      GC.start
      blocks.first(40).each { |block| Fiddle.free(block) }
      row = Heapline.each.find { |location,| location == HERE }
      answer row: row, arity: row.size, above: Heapline.each(row[1]).any? { |location,| location == HERE },
             below: Heapline.each(row[1] - 1).any? { |location,| location == HERE }, value: Heapline.each { 1 }
    RUBY
    location, total, allocations, frees, age_total, longest = found[:row]
    assert_match(/program\.rb:3\z/, location)
    assert_operator total, :>=, 100_000
    assert_operator allocations, :>=, 100
    assert_includes 40..41, frees
    assert_operator age_total, :>=, 40
    assert_operator longest, :>=, 1
    assert_equal [6, false, true, nil], found.values_at(:arity, :above, :below, :value)
  end

  def test_clear_keeps_the_identities
    found = ask(<<~RUBY)
      #{BLOCKS}
      GC.disable
      old = take(50)
      Heapline.clear
      fresh = take(20)
      (old.first(30) + fresh.first(5)).each { |block| Fiddle.free(block) }
      row = Heapline[HERE]
      answer frees: row.frees, allocations: row.allocations, growth: row.growth_blocks, retained: row.retained_blocks,
             impossible: Heapline.rows.reject { |r| r.frees <= r.allocations && r.bytes_freed <= r.total }.map(&:to_a)
    RUBY
    assert_includes 5..6, found[:frees]
    assert_operator found[:allocations], :>=, 20
    assert_equal found[:allocations] - found[:frees], found[:retained]
    # A table of the VM's that grew at this line before may move later.
    assert_includes 30..31, found[:retained] - found[:growth]
    assert_empty found[:impossible]
  end

  def test_lifespans_begin_again_at_clear
    found = ask(<<~RUBY)
      #{BLOCKS}
      GC.disable
      old = take(20)
      6.times { GC.start }
      old.first(10).each { |block| Fiddle.free(block) }
      age = ->(row) { [row.aged, row.age_total, row.max_lifespan] }
      answer before: age[Heapline[HERE]]
      Heapline.clear
      take(5).each { |block| Fiddle.free(block) }
      answer young: age[Heapline[HERE]]
      Fiddle.free(old.last)
      answer old: age[Heapline[HERE]], longest: Heapline.snapshot[HERE].age_max
    RUBY
    assert(found[:before].zip([10, 60, 6]).all? { |is, least| is >= least }, found[:before].inspect)
    assert_operator found[:young][2], :<=, 1, "blocks freed at once"
    assert_includes 1..3, found[:old][0] - found[:young][0] # the block, and what the VM frees of that line
    assert_operator found[:old][2], :>=, 6, "born before the baseline, freed after it"
    assert_equal [found[:before][2], found[:old][2]].max, found[:longest]
  end

  def test_totals_less_each_other_live
    found = ask(<<~RUBY)
      GC.disable
      Heapline.quiet do
        # Some tries: between the two the VM may free a table of its own, of a class that is used for the first time.
        answer early: (Array.new(5) do
          [Heapline.total_bytes_allocated - Heapline.total_bytes_freed, Heapline.snapshot.live_bytes]
        end)
        Heapline.clear
      end
      KEPT = "k" * 1_000_000
      "g" * 500_000
      answer allocated: Heapline.total_bytes_allocated, freed: Heapline.total_bytes_freed
    RUBY
    assert(found[:early].any? { |totals, live| totals == live }, found[:early].inspect)
    assert_in_delta 1_500_000, found[:allocated], 10_000
    assert_in_delta 0, found[:freed], 10_000
  end

  # There no lock may be taken, and RubyGems' `require` takes one.
  def test_the_handler_of_a_signal_may_ask
    found = ask(<<~RUBY, gems: true)
      trap("USR1") do
        $told = [Heapline.total_bytes_allocated.positive?, Heapline.total_bytes_freed.positive?, Heapline.snapshot.pid]
      rescue ThreadError => e
        $told = e.message
      end
      Process.kill(:USR1, Process.pid)
      sleep 0.001 until $told
      answer told: $told, pid: Process.pid
    RUBY
    assert_equal [true, true, found[:pid]], found[:told]
  end

  def test_quiet_nests_and_survives_every_way_out
    found = ask(<<~RUBY)
      depths = Heapline.quiet { |outer| Heapline.quiet { |inner| [outer, inner] } }
      begin; Heapline.quiet { raise "out" }; rescue RuntimeError; end
      catch(:out) { Heapline.quiet { Heapline.quiet { throw :out } } }
      [1].each { Heapline.quiet { break } }
      killed = Thread.new { Heapline.quiet { sleep } }
      Thread.pass until killed.stop?
      other = Thread.new { Heapline.quiet { |depth| depth } }.value
      killed.kill.join
      answer depths: depths, other: other, now: Heapline.quiet { |depth| depth }
      Heapline.quiet { A = "a" * 1_000_000 }
      answer quiet: Heapline["\#{__FILE__}:11"]&.total.to_i
    RUBY
    assert_equal [[1, 2], 1, 1], found.values_at(:depths, :other, :now)
    assert_operator found[:quiet], :<, 5000
  end

  def test_reading_leaves_no_trace
    found = ask(<<~RUBY)
      Heapline.snapshot.top(3); Heapline.rows; Heapline["x:1"]; Heapline.dump(File.open(File::NULL, "w"))
      GC.disable # what one takes is counted where it begins between two readings
      before = Heapline.total_bytes_allocated
      5.times { Heapline.snapshot; Heapline.rows; Heapline["x:1"] }
      answer taken: Heapline.total_bytes_allocated - before
    RUBY
    assert_operator found[:taken], :<, 2000
  end

  # Without a GC, which would allocate for itself on that line.
  def test_dump_prints_total_calls_location
    run = fly(<<~RUBY, options: ["-I", Heapline::TestHelper::LIB, "-rheapline"])
      GC.disable
      KEPT = Array.new(10) { "k" * 100_000 }
      Heapline.dump($stdout, 500_000)
    RUBY
    line = run.output.lines.find { |text| text.include?("program.rb:2") }
    # The ten strings, and some small blocks of the VM's own: 7 to 10, on Ruby 3.2 also 11.
    assert_match(/\A\s+10\d{5}\s+(1\d|2[01]) \S+program\.rb:2\n\z/, line)
    assert(run.output.lines.all? { |text| text.to_i > 500_000 })
  end

  def test_a_forked_child_counts_for_itself
    found = ask(<<~RUBY)
      parent = "p" * 1_000_000
      Process.wait(fork do
        child = "c" * 300_000
        answer child: Heapline["\#{__FILE__}:4"].total, inherited: Heapline["\#{__FILE__}:2"]&.total
        $stdout.flush
      end)
      answer parent: Heapline["\#{__FILE__}:2"].total, childs: Heapline["\#{__FILE__}:4"]&.total
    RUBY
    # What the VM allocates when a child's first line runs is at that line: 44 kB since 4.0.
    assert_in_delta 300_000, found[:child], 60_000
    assert_in_delta 1_000_000, found[:parent], 20_000
    assert_equal [nil, nil], found.values_at(:inherited, :childs)
  end
end
