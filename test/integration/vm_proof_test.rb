# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/taken"

# What the core's table says of the VM is believed when it was proven: with any field of the row wrong, or no row for
# this Ruby at all, lines are exact all the same, and nothing crashes.
class VmProofTest < Minitest::Test
  include FlightRun
  include Taken

  HEADER = File.expand_path("../../ext/heapline_core/vm/ruby_vm.h", __dir__)
  SOURCE = File.expand_path("../../ext/heapline_core/vm/ruby_vm.c", __dir__)
  ROW = /\{(\d+(?:, \d+)+)\}/
  WORD = 8
  # Sizes that occur nowhere else, each at a line of its own.
  PROGRAM = <<~RUBY
    KEPT = []
    class Cache
      def put(size)
        KEPT << ("m" * size)
      end
      def self.build
        [1].each { KEPT << ("b" * 150_002) }
      end
    end
    Cache.new.put(150_001)
    Cache.build
    Fiber.new { KEPT << ("f" * 150_003) }.resume
    Thread.new { Fiber.new { KEPT << ("t" * 150_004) }.resume }.join
    eval("KEPT << ('e' * 150_005)", nil, "evaluated", 70)
    Object.define_method(:defined) { KEPT << ("d" * 150_006) }
    defined
    100.times { GC.start if (_1 % 50).zero?; KEPT << ("l" * 1_507) }
  RUBY
  LINES = { 150_001 => 4, 150_002 => 7, 150_003 => 12, 150_004 => 13, 150_006 => 15, 1_507 => 17 }.freeze

  COMPACT = "def compact = GC.respond_to?(:compact) && GC.compact; "

  def test_the_row_is_believed
    run = fly(PROGRAM)
    assert_lines(run, "as it is")
    assert_equal :frames, run.snapshot.attribution
  end

  def test_a_row_with_a_wrong_field
    fields.each_with_index do |name, index|
      next if index < 2

      [WORD, -WORD, 3 * WORD].each do |shift|
        wrong = row.dup.tap { |values| values[index] = (values[index] + shift) & 0xff }
        assert_lines(with_row(wrong), "#{name} #{row[index]} as #{wrong[index]}")
      end
    end
  end

  def test_no_other_line_with_a_wrong_field
    (2...fields.size).each do |index|
      wrong = row.dup.tap { |values| values[index] += WORD }
      run = fly(format(PRELUDE, taker.inspect) + COMPACT + EVERYWHERE, env: { "LD_PRELOAD" => core_with(row => wrong) })
      assert run.status.success?, "#{fields[index]}: #{run.status.inspect}\n#{run.error[0, 1000]}"
      assert_none_elsewhere(run.snapshot, fields[index])
    end
  end

  def test_a_row_with_two_wrong_fields
    indices = (2...fields.size).to_a
    indices.each_cons(2) do |pair|
      wrong = row.dup
      pair.each { |index| wrong[index] += WORD }
      assert_lines(with_row(wrong), pair.map { |index| fields[index] }.join(" and "))
    end
  end

  # Then the row of the newest is where the search begins.
  def test_a_version_without_a_row
    run = with_row([9, 9, *row.drop(2)])
    assert_lines(run, "no row")
    assert_equal :frames, run.snapshot.attribution
  end

  def test_a_version_without_a_row_and_all_others_wrong
    patched = rows.to_h do |values|
      [values, [values == row ? 9 : values[0], *values[1..].map do |v|
        (v + WORD) & 0xff
      end]]
    end
    assert_lines(with_rows(patched), "no row, and no right one")
  end

  # What heapline's extension reads goes by a table of its own, of the same version.
  READ = <<~RUBY
    require "heapline/errors"
    require "heapline/native"
    reader, writer = IO.pipe
    copy = Thread.new { reader.read }
    begin
      Heapline::Native.twin(ARGV.first.to_sym, writer.fileno, false)
    rescue Heapline::Error => e
      puts e.message
    end
    writer.close
    print copy.value
  RUBY
  LOCAL = '"local copy of '
  REFUSED = "this Ruby's structs are not those that heapline knows: its code is not read (see heapline doctor)\n"

  # All that a twin tells, under a core with that row.
  def told_by_twin(task, values = row, heapline: "keep,quiet")
    run = fly(PROGRAM + READ, task, options: ["-I", Heapline::TestHelper::LIB], heapline: heapline,
                                    env: { "LD_PRELOAD" => core_with(row => values) })
    assert run.status.success?, run.error
    run.output
  end

  def test_the_extension_reads_what_the_core_has_proven
    assert_operator told_by_twin("code").scan('"type":"HEAPLINE_CODE"').size, :>, 100
    assert_includes told_by_twin("dump"), LOCAL
  end

  def test_the_extension_reads_nothing_where_fields_were_found_elsewhere
    wrong = row.dup.tap { |values| values[fields.index("iseq_body")] += WORD }
    assert_equal REFUSED, told_by_twin("code", wrong)
    assert_equal REFUSED, told_by_twin("code", heapline: "keep,quiet,api")
    dump = told_by_twin("dump", wrong)
    refute_includes dump, LOCAL
    [dump, told_by_twin("stacks", wrong)].each { |told| assert_includes told, '"type":"HEAPLINE_END"' }
  end

  private

  def rows
    @rows ||= File.read(SOURCE)[/layouts\[\] = \{(.*?)\n\};/m, 1].scan(ROW).map { |text,| text.split(", ").map(&:to_i) }
  end

  def row
    major, minor = RUBY_VERSION.split(".").map(&:to_i)
    rows.find { |values| values.first(2) == [major, minor] } or flunk "no row for #{RUBY_VERSION}"
  end

  def fields
    body = File.read(HEADER)[/struct hl_ruby_layout \{(.*?)\n\};/m, 1].gsub(%r{/\*.*?\*/}m, "")
    @fields ||= body.scan(/uint8_t ([^;]+);/).flat_map { |names,| names.split(", ") }
  end

  def with_row(values)
    with_rows(row => values)
  end

  # The program, under a core whose table was changed.
  def with_rows(changes)
    flight(ruby(script(PROGRAM)), heapline: "keep,blocks,quiet", env: { "LD_PRELOAD" => core_with(changes) })
  end

  # Path of a core whose table has other rows.
  def core_with(changes)
    core = File.binread(Heapline::TestHelper::CORE)
    changes.each do |from, to|
      assert_equal 1, core.scan(Regexp.new(Regexp.escape(from.pack("C*")), nil)).size, "the row in the core"
      core.sub!(from.pack("C*"), to.pack("C*"))
    end
    File.join(new_directory, "libheapline.so").tap { |file| File.binwrite(file, core) }
  end

  # Each size is told at its line or not at all, also without the GVL and while compaction moves what is named. A
  # refusal has no line without the GVL, or none at all: that is not wrong.
  def assert_none_elsewhere(snapshot, message)
    refute_empty told(snapshot), message
    wrong = told_elsewhere(snapshot, expectations(EVERYWHERE))
    assert_empty wrong.map { |site| site.location.to_s.inspect[0, 80] }, message
  end

  def assert_lines(run, message)
    assert run.status.success?, "#{message}: #{run.status.inspect}\n#{run.error}"
    found = run.snapshot.select { |site| site.location.path&.end_with?("program.rb", "evaluated") }
    LINES.each do |size, line|
      site = found.find { |each| each.location.lineno == line }
      assert site, "#{message}: nothing at line #{line}, #{run.snapshot.attribution}"
      assert_operator site.bytes_allocated, :>=, size * (size == 1_507 ? 100 : 1), "#{message}: line #{line}"
    end
    assert found.find { |each| [each.location.path, each.location.lineno] == ["evaluated", 70] }, message
    assert_equal 0, run.snapshot.failures.fetch(:mismatches, 0), message
    run
  end
end
