# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/object_rows"

# Objects that move, Ractors, and GC at every turn: no object loses its line.
class ObjectsMovingTest < Minitest::Test
  include FlightRun
  include ObjectRows

  # Makes objects of several sizes, lets some go and makes others, again and again; says for which of them the table has
  # another line than the one that made them, and which it does not know. `collect` is what is done in each round.
  def churn(rounds, collect, before: "")
    fly(<<~RUBY, heapline: "keep")
      #{ASKING}
      GC.respond_to?(:compact) or abort("none")
      class Kept; def initialize(text) = @text = text; end
      #{before}
      Native.objects_start
      FIRST = __LINE__ + 1
      make = [->(i) { Kept.new(i) },
              ->(i) { "text" * (i % 40) },
              ->(i) { Array.new(i % 20, i) },
              ->(i) { { i => i } },
              ->(i) { Class.new(Kept) }]
      keep = Array.new(1500) { |i| make[i % 5].call(i) }
      random = Random.new(1)
      #{rounds}.times do |round|
        20.times { |i| at = random.rand(1500); keep[at] = make[at % 5].call(at + i) }
        100.times { |i| "x" * random.rand(200) }
        #{collect}
      end
      GC.start
      lines = Native.read_flight(Native.flight_fd, true)[:sites].to_h { |site| [site[:number], site[:line]] }
      known = {}.compare_by_identity
      Native.live_objects(0, 1 << 40).each { |object, site, _| known[object] = lines[site] }
      wrong = keep.each_index.reject { |at| known[keep[at]] == FIRST + (at % 5) }
      p wrong.size, wrong.first(5).map { |at| [keep[at].class, known[keep[at]]] }
      table = Native.object_rows(Native.flight_fd, true).sum { |row| row[4] - row[5] }
      header = Native.read_header(Native.flight_fd)
      p (table - (header[:objects_allocated] - header[:objects_freed])).abs < 2000
    RUBY
  end

  def assert_none_lost(run)
    skip "this Ruby cannot compact" if run.error.start_with?("none")
    assert_equal ["", "0\n[]\ntrue\n"], [run.error, run.output]
    assert_complete(run.paths.fetch(0))
  end

  def test_a_thousand_compactions
    assert_none_lost churn(FlightRun.torture(100, 1000, 1000), "GC.compact")
  end

  def test_automatic_compaction
    assert_none_lost churn(FlightRun.torture(50, 1000, 1000), "GC.start", before: "GC.auto_compact = true")
  end

  # Everything that can move, does.
  def test_references_verified_by_ruby
    skip "takes minutes on Ruby 3.4" if RUBY_VERSION.start_with?("3.4")
    assert_none_lost churn(FlightRun.torture(5, 20, 50), "GC.verify_compaction_references(toward: :empty)")
  end

  def test_gc_stress
    run = fly_objects(<<~RUBY)
      class Kept; end
      class Gone; end
      GC.stress = true
      $keep = Array.new(40) { Kept.new }
      40.times { Gone.new }
      GC.stress = false
      GC.start
    RUBY
    assert_equal 40, lines_of("Kept", run).fetch(4).live
    gone = lines_of("Gone", run).fetch(5)
    assert_equal 40, gone.allocated
    assert_operator gone.live, :<=, 5
    assert_complete(run.paths.fetch(0))
  end

  RACTORS = <<~RUBY
    $VERBOSE = nil
    class Made; end
    ractors = 4.times.map do
      Ractor.new do
        kept = Array.new(100) { Made.new }
        3000.times { Made.new }
        kept.size
      end
    end
    p ractors.sum { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
  RUBY

  def test_ractors
    skip "Ruby #{RUBY_VERSION} crashes where a Ractor starts under such hooks" if RUBY_VERSION < "3.3"
    run = fly_objects(RACTORS)
    assert_equal "400\n", run.output
    rows = lines_of("Made", run)
    assert_equal [400, 12_000], rows.values_at(5, 6).map(&:allocated)
    assert_complete(run.paths.fetch(0))
  end

  def test_ruby_3_1_gives_up_before_it_crashes
    skip "only Ruby 3.1 and 3.2" unless RUBY_VERSION < "3.3"
    run = fly_objects("class Kept; end\n$kept = Array.new(10) { Kept.new }\n#{RACTORS}")
    assert_equal "400\n", run.output
    assert_match(/\Aheapline: objects are no longer counted: this Ruby crashes/, run.error)
    assert_equal 10, lines_of("Kept", run).fetch(2).live
    assert_equal({ objects_on: false, objects_ractors: 1 },
                 object_header(run.paths.fetch(0)).slice(:objects_on, :objects_ractors))
  end

  # Ruby's own tracing of allocations is the oracle.
  def test_lines_are_those_that_ruby_tells
    run = fly(<<~RUBY, heapline: "keep")
      #{ASKING}
      require "objspace"
      ObjectSpace.trace_object_allocations_start
      Native.objects_start
      require "json"
      require "erb"
      require "optparse"
      $kept = (1..500).map { |i| JSON.parse(JSON.generate({ "k\#{i}" => [i, i.to_f, "v" * i, { a: i }] })) }
      $kept << ERB.new("<% 20.times do |i| %><%= i.to_s * i %><% end %>").result
      $kept << eval((1..200).map { |i| "[\#{i}.to_s, { a: \#{i} }, Object.new, :\\"s\#{i}\\"]" }.join("\\n"), binding, "made.rb")
      sites = Native.read_flight(Native.flight_fd, true)[:sites].to_h { |site| [site[:number], site] }
      compared = 0
      wrong = Native.live_objects(0, 1 << 40).reject do |object, site, _|
        line = ObjectSpace.allocation_sourceline(object)
        next true if line.nil? || line.zero? # made before, or where no line runs: while a file is compiled
        compared += 1
        next true if sites[site][:line].zero? || ObjectSpace.allocation_sourcefile(object).start_with?("<internal:")
        sites[site].values_at(:path, :line) == [ObjectSpace.allocation_sourcefile(object), line]
      end
      p compared > 5000, wrong.first(5).map { |object, site, _| [object.class, sites[site][:path], sites[site][:line]] }
    RUBY
    assert_equal ["", "true\n[]\n"], [run.error, run.output]
  end
end
