# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/object_rows"
require "support/taken"

# With a Ruby that `rake builds` made, whose VM may be laid out as no version's is, each line and each object is told
# exactly, or heapline says that it does not. HEAPLINE_TEST_RUBY is that Ruby, HEAPLINE_TEST_HEADERS are the folders of
# its headers; the one that runs the test is any.
class BuildTest < Minitest::Test
  include FlightRun
  include ObjectRows
  include Taken

  BUILT = ENV.fetch("HEAPLINE_TEST_RUBY")
  HEADERS = ENV.fetch("HEAPLINE_TEST_HEADERS").split(":").flat_map { |folder| ["-I", folder] }.freeze
  VERDICTS = %w[exact refused wrong crashed].freeze # from good to bad

  # Not every build can.
  COMPACT = "def compact; GC.compact; rescue NotImplementedError; nil; end; "
  WITHOUT_THE_LOCK = 7908

  METHODS = 500
  TIMES = 3
  STRINGS = <<~RUBY.freeze
    #{Array.new(METHODS) { |i| "def m#{i}(n) = $kept[n] = \"s\" * #{10_000 + (100 * i)}" }.join("\n")}
    $kept = Array.new(#{METHODS * TIMES})
    #{TIMES}.times { |k| #{METHODS}.times { |i| send(:"m\#{i}", #{METHODS} * k + i) } }
  RUBY

  # Code comes and goes at the same addresses.
  EVALUATED = <<~'RUBY'
    20_000.times do |i|
      file, line = i % 97, 1 + i % 89
      eval("Taker.take(#{10_000 + 100 * file + line})", nil, "file#{file}", line)
      GC.start if i % 5_000 == 0
    end
  RUBY

  OBJECTS = <<~RUBY
    class Kept; end
    class Gone; end
    $kept = Array.new(1000) { Kept.new }
    500.times { Gone.new }
    $texts = Array.new(200) { |i| "x" * 400 + i.to_s }
    3.times { GC.start }
    begin
      GC.compact
    rescue NotImplementedError, NoMethodError
      nil
    end
    $more = Array.new(100) { Kept.new }
    $kept.clear
    3.times { GC.start }
    puts RUBY_VERSION < "3.2" ? GC::INTERNAL_CONSTANTS[:RVALUE_SIZE] : GC.stat_heap(0, :slot_size)
  RUBY

  def test_lines
    verdicts = [places, strings, evaluated]
    say("lines", verdicts)
    api = places("keep,api")
    refute_includes %w[wrong crashed], api.first, "through the public API: #{api.last}"
  end

  def test_objects
    run = fly_objects(OBJECTS)
    say("objects", [crash(run) || refusal(run) || objects(run), lines_under_objects])
  end

  private

  def ruby(*arguments, **)
    [BUILT, "--disable=gems", *arguments]
  end

  def taker
    NativePrograms.extension("taker", headers: HEADERS)
  end

  # Of several [verdict, complaint] the worst is what is said.
  def say(what, verdicts)
    verdict, complaint = verdicts.max_by { |name, _| VERDICTS.index(name[/\w+/]) }
    puts "verdict #{what}: #{verdict}"
    refute_includes %w[wrong crashed], verdict, complaint
  end

  def crash(run)
    ["crashed", "#{run.status.inspect}\n#{run.error[0, 2000]}"] unless run.status.success?
  end

  # How lines were found.
  def way(run)
    snapshot = run.snapshot
    return ["refused", run.error] if snapshot.attribution != :frames

    found = snapshot.layout[:found].to_s
    [found.empty? ? "exact" : "exact, found #{found}", ""]
  end

  def places(heapline = "keep")
    run = fly(format(PRELUDE, taker.inspect) + COMPACT + EVERYWHERE, heapline: heapline)
    crash(run) || complaint(run, wrong_places(run.snapshot)) || way(run)
  end

  def complaint(run, wrong)
    ["wrong", "#{wrong.inspect}\n#{run.error}"] unless wrong.empty?
  end

  # Without the lock Ruby's public API cannot be asked: no line is no wrong one.
  def wrong_places(snapshot)
    expected = expectations(EVERYWHERE)
    missing = expected.reject { |place, size| size == WITHOUT_THE_LOCK || right?(snapshot, place, size) }
    [*told_elsewhere(snapshot, expected).map { |site| site.location.to_s }, *missing.keys]
  end

  def strings
    run = fly(STRINGS)
    crash(run) || complaint(run, wrong_strings(run.snapshot)) || way(run)
  end

  # The VM's own tables grow at some line, too; what is told elsewhere is missing at its own.
  def wrong_strings(snapshot)
    bytes = snapshot.select { |site| site.location.path&.end_with?("program.rb") }
                    .group_by { |site| site.location.lineno }.transform_values { |sites| sites.sum(&:bytes_allocated) }
    (1..METHODS).reject { |line| bytes.fetch(line, 0) >= TIMES * (10_000 + (100 * (line - 1))) }
  end

  def evaluated
    run = fly(format(PRELUDE, taker.inspect) + EVALUATED)
    crash(run) || complaint(run, wrong_evaluations(run.snapshot)) || way(run)
  end

  def wrong_evaluations(snapshot)
    sites = snapshot.select { |site| site.location.library == "taker.so" }
    wrong = sites.reject do |site|
      file = site.location.path.to_s[/\Afile(\d+)\z/, 1]
      file && site.bytes_allocated == site.allocations * (10_000 + (100 * file.to_i) + site.location.lineno)
    end
    [*wrong.map { |site| site.location.to_s }, *("20,000 were not counted" if sites.sum(&:allocations) != 20_000)]
  end

  def refusal(run)
    return if object_header(run.paths.fetch(0))[:objects_on] || run.error.lines.grep(/objects are not/).size != 1

    ["refused", run.error]
  end

  def objects(run)
    slot = run.output.to_i
    kept = lines_of("Kept", run)
    gone = lines_of("Gone", run)[4]
    wrong = { kept: kept.keys != [3, 12], gone: !gone || gone.allocated != 500 || gone.freed < 490 }
    wrong.update(figures(kept, slot)) unless wrong[:kept]
    wrong[:texts] = lines_of("String", run)[5]&.allocated.to_i < 600
    complaint(run, wrong.select { |_, is_so| is_so }.keys + lost(run)) || ["exact", ""]
  end

  def figures(kept, slot)
    { first: kept[3].allocated != 1000 || kept[3].freed < 990 || kept[3].bytes_allocated != 1000 * slot,
      second: kept[12].allocated != 100 || kept[12].freed != 0 || kept[12].bytes_allocated != 100 * slot }
  end

  def lost(run)
    header = object_header(run.paths.fetch(0))
    header.slice(:objects_refused, :objects_untracked, :objects_mismatches).reject { |_, count| count.zero? }.to_a
  end

  # Accounting objects, or refusing to, leaves lines as they are.
  def lines_under_objects
    verdict, complaint = places("keep,objects")
    %w[wrong crashed].include?(verdict) ? [verdict, complaint] : ["exact", ""]
  end
end
