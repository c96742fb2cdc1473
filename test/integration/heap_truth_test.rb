# frozen_string_literal: true

require "test_helper"
require "heapline/heap_dump"
require "json"
require "open3"
require "support/accounted"

# What is read from a dump of a process is, to the object and to the byte, what the process says of itself in the same
# state: GC is off, and between its own figures and the copy it makes no object.
class HeapTruthTest < Minitest::Test
  include Accounted

  # The first dump is for what happens once: constants that are found, symbols that Ruby's own dump makes.
  PROGRAM = <<~'RUBY'
    require "heapline"
    require "json"
    require "objspace"
    class Item; def initialize(n); @name = n.to_s * 20; @more = [n]; end; end
    class Book < Item; end
    Row = Struct.new(:a, :b)
    $kept = Array.new(300) do |n|
      [Item.new(n), Book.new(n), Row.new(n, n.to_s), { n => n.to_f, n.to_s => [n] * 50 }, "long #{n}" * 30, /x#{n}/,
       proc { n }, "symbol #{n}".to_sym, 2**(70 + n), n.to_s.match(/\d/), Rational(n, 7), Thread::Mutex.new, Class.new]
    end
    ALL = [Item, Book, Row, String, Array, Hash, Regexp, MatchData, Proc, Symbol, Integer, Float, Rational, Thread::Mutex]
    def family(klass) = [klass, *klass.subclasses.flat_map { |one| family(one) }]
    files = ARGV.map { |path| File.open(path, "w") }
    numbers = files.map(&:fileno)
    counts = ObjectSpace.count_objects
    sizes = ALL.map { 0 }
    families = ALL.map { |klass| family(klass).map { |one| one.name || one.inspect } }
    ObjectSpace.dump_all(output: files.first)
    GC.start
    GC.disable
    round = 0
    while round < files.size
      ObjectSpace.count_objects(counts)
      index = 0
      while index < ALL.size
        sizes[index] = ObjectSpace.memsize_of_all(ALL[index])
        index += 1
      end
      Heapline::Native.twin(:dump, numbers[round], false)
      sleep 0.001 until Heapline::Native.twin_gone?
      round += 1
    end
    print JSON.generate(counts: counts, sizes: families.zip(sizes))
  RUBY

  # The copy's own, in which Ruby writes the dump: an IO.
  OF_THE_COPY = { "FILE" => 1 }.freeze
  NO_OBJECTS = %w[TOTAL FREE].freeze

  def setup
    super
    command = [RbConfig.ruby, "-I#{Heapline::TestHelper::LIB}", program(PROGRAM), path("first.json"), path("dump.json")]
    out, err, status = Open3.capture3(environment, *command)
    assert status.success?, err
    @said = JSON.parse(out)
    @dump = Heapline::HeapDump.open(path("dump.json"))
  end

  def test_counts_by_type
    expected = @said["counts"].transform_keys { |type| type.delete_prefix("T_") }.except(*NO_OBJECTS)
    expected.merge!(OF_THE_COPY) { |_, program, copy| program + copy }
    assert_equal expected.sort, @dump.histogram(by: :type).map { |group| [group.key, group.count] }.sort
    totals = @said["counts"]
    assert_equal totals["TOTAL"] - totals["FREE"] + OF_THE_COPY.values.sum, @dump.summary.objects
  end

  # Of each class and all below it. (What memsize_of_all says of Class leaves some singleton classes out.)
  def test_bytes_by_class
    bytes = @dump.histogram.to_h { |group| [group.key, group.bytes] }
    found = @said["sizes"].to_h { |family, _| [family.first, bytes.values_at(*family.uniq).compact.sum] }
    assert_equal @said["sizes"].to_h.transform_keys(&:first), found
    assert_operator found.fetch("Item"), :>, found.fetch("Book")
  end
end
