# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/object_rows"

# Every Ruby object, by its line and class: planted truth, read back from the flight file.
class ObjectsTest < Minitest::Test
  include FlightRun
  include ObjectRows

  def test_births_and_ends_by_line_and_class
    run = fly_objects(<<~RUBY)
      class Kept; end
      class Gone; end
      $keep = []
      1000.times { $keep << Kept.new }
      500.times { Gone.new }
      2.times { GC.start }
    RUBY
    kept = lines_of("Kept", run)
    assert_equal [4], kept.keys
    assert_equal ["T_OBJECT", 1000, 0], kept[4].to_a.values_at(3, 5, 6)
    gone = lines_of("Gone", run).fetch(5)
    assert_equal 500, gone.allocated
    assert_operator gone.freed, :>=, 495, "a few may lie on the stack"
    assert_operator gone.temporary, :>=, 400
    assert_complete(run.paths.fetch(0))
  end

  # Ruby 3.1 has no line for the instruction that makes it.
  def test_a_regular_expression_that_is_made_once
    run = fly_objects("PART = 'x'\ndef made\n  /\\A\#{PART}?\\z/o\nend\nmade\n")
    assert_equal 1, lines_of("Regexp", run).fetch(3).allocated
  end

  # As Ruby's own ObjectSpace.trace_object_allocations misses them: never too few without a word.
  def test_zjit_makes_objects_of_which_nobody_is_told
    skip "this Ruby has no ZJIT" unless plain(ruby("--zjit", "-e", "exit RubyVM::ZJIT.enabled?")).status.success?

    run = fly_objects("class Kept; end\n$kept = Array.new(2000) { Kept.new }\n", options: ["--zjit"])
    assert_predicate run.status, :success?
    assert_match(/\Aheapline: objects are no longer counted: .+ ZJIT's code makes\n\z/, run.error)
    assert_equal false, object_header(run.paths.fetch(0))[:objects_on]
  end

  # Its pages are asked before anything is read by what is known of its version.
  def test_another_object_heap_is_refused
    skip "a static Ruby calls its own functions" if RbConfig::CONFIG["ENABLE_SHARED"] == "no"

    others = NativePrograms.library("heap_elsewhere")
    %w[slots pages long none].each do |heap|
      run = fly_objects("$kept = Array.new(2000) { Object.new }\n", preload: [others], env: { "HEAP" => heap })
      next assert_empty(run.error, heap) if heap == "slots" && RUBY_VERSION < "3.2" # they may be of any size

      assert_predicate run.status, :success?, "#{heap}: #{run.error}"
      assert_match(/\Aheapline: objects are not counted: .+ differs from that of its version\n\z/, run.error, heap)
      assert_equal false, object_header(run.paths.fetch(0))[:objects_on], heap
    end
  end

  # They began while the layout was not decided.
  def test_a_layout_that_is_refused_while_objects_are_counted
    skip "a static Ruby calls its own functions" if RbConfig::CONFIG["ENABLE_SHARED"] == "no"

    run = fly_objects(<<~RUBY, preload: [NativePrograms.library("frames_elsewhere")])
      20.times { |i| eval("$text = 's' * 5000") }
      20.times do |i|
        eval("class Kept\#{i}; end; $kept = Array.new(100) { Kept\#{i}.new }")
      end
      puts "whole"
    RUBY
    assert_equal "whole\n", run.output, run.error[0, 2000]
    assert_equal :public, run.snapshot.attribution
    kept = object_rows(run.paths.fetch(0)).select { |row| row.class_name.to_s.start_with?("Kept") }
    assert_equal 20 * 100, kept.sum(&:allocated)
    assert_complete(run.paths.fetch(0))
  end

  def test_slot_bytes
    run = fly_objects(<<~RUBY)
      $small = Array.new(10) { Object.new }
      $large = Array.new(10) { |i| ("x" * 500) + i.to_s }
    RUBY
    assert_equal RUBY_VERSION < "4.1" ? 400 : 320, lines_of("Object", run).fetch(1).bytes_allocated
    large = lines_of("String", run).fetch(2).bytes_allocated
    RUBY_VERSION < "3.2" ? assert_operator(large, :>=, 400) : assert_operator(large, :>=, 6400)
  end

  def test_baseline
    run = fly_objects(<<~RUBY)
      #{ASKING.lines.join.tr("\n", ";")}
      class Kept; end
      $old = Array.new(100) { Kept.new }
      Native.baseline
      $new = Array.new(30) { Kept.new }
      $old.clear
      3.times { GC.start }
    RUBY
    rows = lines_of("Kept", run)
    assert_equal [100, 0], rows.fetch(3).to_a.values_at(5, 9)
    assert_operator rows.fetch(3).freed_old, :>=, 95
    assert_equal rows.fetch(3).freed_old, rows.fetch(3).freed_since
    assert_equal [30, 30, 0], rows.fetch(5).to_a.values_at(5, 9, 10)
  end

  def test_it_is_there_after_sigkill
    run = fly_objects(<<~RUBY)
      class Kept; end
      $keep = Array.new(70) { Kept.new }
      Process.kill(:KILL, Process.pid)
      sleep
    RUBY
    assert_equal 9, run.status.termsig
    assert_equal 70, lines_of("Kept", run).fetch(2).live
  end

  def test_a_program_behaves_as_without
    assert_same_behaviour(ruby("-e", <<~RUBY), heapline: "keep,objects")
      $stderr.puts GC.count.class
      at_exit { puts ObjectSpace.each_object(Class).any? { |klass| klass.name == "Later" } }
      Later = Class.new { def to_s = "later" }
      puts Later.new, Array.new(10) { |i| i.to_s * i }.join(","), $!.inspect
      exit 7
    RUBY
  end

  def test_blocks_are_counted_as_without
    text = <<~RUBY
      $strings = Array.new(200) { |i| "s" * (1000 + i) }
      $arrays = Array.new(200) { |i| [nil] * (500 + i) }
    RUBY
    plain, watched = ["keep", "keep,objects"].map { |options| counted(fly(text, heapline: options)) }
    assert_equal plain, watched
  end

  # {line => [allocations, bytes]} of the program's own lines.
  def counted(run)
    sites = run.snapshot.select { |site| site.location.path&.end_with?("program.rb") && site.location.lineno.positive? }
    sites.to_h { |site| [[site.location.lineno, site.location.library], [site.allocations, site.bytes_allocated]] }
  end

  def test_threads
    run = fly_objects(<<~RUBY)
      class Made; end
      $kept = 8.times.map { |i| Thread.new { Array.new(500) { Thread.pass if rand < 0.01; Made.new } } }.flat_map(&:value)
    RUBY
    assert_equal 4000, lines_of("Made", run).fetch(2).live
    assert_complete(run.paths.fetch(0))
  end

  def test_fork_trees
    run = fly_objects(<<~RUBY)
      class Kept; end
      $keep = Array.new(1000) { Kept.new }
      Process.wait(fork { $more = Array.new(20) { Kept.new }; Process.wait(fork { $keep.clear; 3.times { GC.start } }) })
      $own = Array.new(5) { Kept.new }
    RUBY
    parent, child, grandchild = run.paths.sort_by { |path| Heapline::Native.read_header(path)[:started_ns] }
    by_line = ->(path) { object_rows(path).select { |row| row.class_name == "Kept" }.to_h { |row| [row.line, row] } }
    assert_equal({ 2 => 1000, 4 => 5 }, by_line.call(parent).transform_values(&:live))
    assert_equal({ 2 => 1000, 3 => 20 }, by_line.call(child).transform_values(&:live))
    assert_equal 20, by_line.call(child).fetch(3).allocated_since
    assert_equal 0, by_line.call(child).fetch(2).allocated_since
    last = by_line.call(grandchild).fetch(2)
    assert_operator last.freed_old, :>=, 990
    [parent, child, grandchild].each { |path| assert_complete(path) }
  end

  def test_the_table_takes_little_beside_the_object_heap
    run = fly_objects(<<~RUBY)
      #{ASKING.lines.join.tr("\n", ";")}
      before = Native.read_header(Native.flight_fd)[:own_bytes]
      pages = GC.stat(:heap_allocated_pages)
      $keep = Array.new(300_000) { Object.new }
      page = GC::INTERNAL_CONSTANTS[:HEAP_PAGE_SIZE] || 16_384
      heap = (GC.stat(:heap_allocated_pages) - pages) * page
      puts (Native.read_header(Native.flight_fd)[:own_bytes] - before).fdiv(heap)
    RUBY
    assert_operator run.output.to_f, :<=, 0.2
    assert_operator run.output.to_f, :>, 0.1
  end

  def test_start_and_stop_from_inside
    run = fly(<<~RUBY, heapline: "keep")
      #{ASKING.lines.join.tr("\n", ";")}
      class Kept; end
      p Native.objects?, (Native.live_objects(0, 1) rescue $!.class)
      $before = Array.new(10) { Kept.new }
      Native.objects_start
      from = Native.next_generation
      $kept = Array.new(100) { Kept.new }
      to = Native.next_generation - 1
      $after = Array.new(7) { Kept.new }
      found = Native.live_objects(from, to).select { |object, _, _| object.is_a?(Kept) }
      p found.map(&:first).map(&:object_id).sort == $kept.map(&:object_id).sort, found.map { |one| one[1] }.uniq.size
      Native.objects_stop
      p Native.objects?, rows("Kept").sum { |row| row[4] }
      Native.objects_start
      p rows("Kept")
    RUBY
    assert_equal "", run.error
    assert_equal ["false", "Heapline::NotEnabled", "true", "1", "false", "107", "[]"], run.output.split("\n")
  end
end
