# frozen_string_literal: true

require "objspace"
require "stringio"
require "tempfile"
require "test_helper"
require "support/flight_builder"
require "support/snapshots"
require "heapline/accounting/flight"
require "heapline/accounting/csv"
require "heapline/accounting/format"

module Heapline
  module Accounting
    # What the extension writes is what Ruby writes of the same sites, byte by byte. Of a damaged file whose counts are
    # above 2^63 it is not: there live and growth wrap around in the extension, and Ruby goes on.
    class FlightRowsTest < Minitest::Test
      FORMATS = %w[csv json pprof].freeze
      NAMES = [*Snapshots::HOSTILE, "a.rb", "a.rb:1", "a.rb2", "/g/gems/rack-3.0.8/lib/a.rb",
               "/usr/lib/ruby/3.1.0/x.rb", "<internal:kernel>", "name=", " lead", "trail ", "a,b", "\x7f", "\u2028",
               "ü\n", "nul\0inside", "\0"].freeze

      def setup
        super
        @file = Tempfile.new("flight")
        @random = Random.new(20_261_123)
        @flight = FlightBuilder.new(baseline: 1, baseline_kind: 2, command: %w[ruby\n é])
        @flight.lane(0, baseline: 1)
      end

      def teardown
        @file.close!
        super
      end

      # Each of it is another number of bytes, so that no two are equal in all that puts them in order.
      def count(site, **figures)
        bytes = @bytes = (@bytes || 5000) + @random.rand(1..99)
        freed = @random.rand(0..bytes)
        allocations = @random.rand(1..50)
        frees = @random.rand(0..allocations)
        @flight.count(0, site, allocations: allocations, frees: frees, bytes_allocated: bytes, bytes_freed: freed,
                               age_sum: @random.rand(0..9999), age_ms_sum: @random.rand(0..(10**@random.rand(1..15))),
                               temporary: @random.rand(0..frees), age_max: 3, age_ms_max: 77, **figures)
        @flight.base(0, site, allocations: 1, bytes_allocated: 100, bytes_freed: 50, frees: 1) if @random.rand < 0.5
        site
      end

      def every_kind
        NAMES.each_with_index do |name, i|
          count(@flight.ruby_site(name, i, label: name, library: [nil, "/lib/#{name}"][i % 2], tag: [nil, name][i % 3]))
          count(@flight.special_site(name, tag: name))
          library = ["/usr/lib/libz.so.1", nil, name][i % 3]
          count(@flight.native_site(library, i * 77, symbol: [name, nil][i % 2], symbol_offset: i))
        end
        count(@flight.ruby_site(nil, 7))
        count(@flight.special_site("(YJIT)"))
        [1, 2, 3].each { |fixed| count(fixed) }
      end

      # In what they are sorted by they are all the same.
      def equals
        lines = ["/b.rb", "/b.rb2", "/b.rb:1", "/b", "é", ""].product([1, 2, 9, 10, 11, 99, 100, 4_000_000_000])
        sites = lines.map { |path, line| @flight.ruby_site(path, line) }
        sites += [0x1f, 0x9, 0x10, 0xffffffffffff].flat_map do |offset|
          [@flight.native_site("/lib/b.so", offset), @flight.native_site(nil, offset)]
        end
        sites.shuffle(random: @random).each do |site|
          @flight.count(0, site, allocations: 4, bytes_allocated: 400, bytes_freed: 100, frees: 1)
        end
      end

      def text(name, written, **options)
        wanted = Format.wanted(name, **options)
        wanted.written = written
        snapshot = Flight.read(@file.path, wanted: wanted).with(taken_at: Time.at(0))
        assert_equal written, !snapshot.written.nil?
        made = StringIO.new("".b).tap { |io| Format.made(name, **options).render(snapshot, io) }.string
        name == "pprof" ? Zlib.gunzip(made) : made
      end

      def assert_same(**options)
        FORMATS.each do |name|
          expected = text(name, false, **options)
          assert_equal expected, text(name, true, **options), "#{name} #{options}"
          assert_operator expected.bytesize, :>, 300
        end
      end

      # Addresses in the VM that runs this test, as text reports call them.
      def test_what_the_vms_functions_are_called
        mapped = File.readlines("/proc/self/maps", chomp: true).map { |line| line.split.last }
        vm = mapped.find { |path| path.match?(Places::GemName::RUBY) }
        [0x10_0000, 0x14_0000].each { |offset| count(@flight.native_site(vm, offset)) }
        count(@flight.native_site("/usr/lib/libz.so.1", 0x1_0000))
        @flight.write(@file.path)
        assert_same
        sites = JSON.parse(text("json", true))["sites"].to_h { |site| site.values_at("location", "function") }
        assert_nil sites.delete("libz.so.1+0x10000")
        named = NativePlaces.named(Flight.read(@file.path).sites).map(&:location)
        assert_equal named.to_h { |place| [place.to_s, place.label] }.slice(*sites.keys), sites
        assert_equal 2, sites.values.compact.size
      end

      def test_every_kind_of_place
        every_kind
        @flight.write(@file.path)
        assert_same
        Figures::SiteFigures::KEYS.each { |key| assert_same(sort: key, top: 31) }
        assert_same(min: 3000, top: 5)
      end

      def test_the_order_of_equals
        equals
        @flight.write(@file.path)
        Figures::SiteFigures::KEYS.each { |key| assert_same(sort: key) }
        assert_same(top: 7)
      end

      def test_without_a_baseline_and_without_sites
        @flight = FlightBuilder.new
        @flight.write(@file.path)
        FORMATS.each { |name| assert_equal text(name, false), text(name, true) }
        count(@flight.ruby_site("a.rb", 1))
        @flight.write(@file.path)
        assert_same
      end

      # Several times what is written at a time; a text that Ruby writes is asked for once.
      def test_many_rows
        1500.times { |line| count(@flight.ruby_site("ü/gems/a-1.0/#{line % 3}.rb", line, label: "quo\"te")) }
        @flight.write(@file.path)
        assert_same
      end

      def test_means_are_rounded_as_ruby_does
        means = [[1, 2000], [1, 2001], [3, 2000], [2, 3], [0, 7], [10**15, 3], [2**52, 7], [2**53, 1], [2**60, 3]]
        means += Array.new(300) { [@random.rand(0..(10**@random.rand(1..14))), @random.rand(1..5000)] }
        means.each_with_index do |(sum, frees), i|
          count(@flight.ruby_site("a.rb", i), allocations: 5000, frees: frees, age_sum: sum, age_ms_sum: sum)
        end
        @flight.write(@file.path)
        assert_same
      end

      # A program that writes its output to a pipe may end at any time; what was read can be written again.
      def test_rows_can_be_written_again_after_a_failure
        every_kind
        @flight.write(@file.path)
        snapshot = Flight.read(@file.path, wanted: Format.wanted("csv"))
        broken = Object.new.tap { |io| io.define_singleton_method(:write) { |_| raise Errno::EPIPE } }
        rows = Format.made("csv").send(:rows)
        2.times { assert_raises(Errno::EPIPE) { rows.write(snapshot.written, broken) } }
        whole = StringIO.new("".b).tap { |io| rows.write(snapshot.written, io) }
        assert_operator whole.string.lines.size, :>, NAMES.size
      end

      # A server makes a snapshot for each request, and few objects: its GCs come seldom.
      def test_memory_is_released_when_it_was_written
        every_kind
        @flight.write(@file.path)
        FORMATS.product([{}, { min: 1 << 60 }]) do |name, options|
          snapshot = Flight.read(@file.path, wanted: Format.wanted(name, **options))
          assert_operator ObjectSpace.memsize_of(snapshot.written), :>, File.size(@file.path)
          Format.made(name, **options).render(snapshot, StringIO.new("".b))
          assert_operator ObjectSpace.memsize_of(snapshot.written), :<, File.size(@file.path)
        end
      end

      # Nobody releases these: 80 MB bring a GC, which some hundred objects do not.
      def test_the_gc_knows_of_the_memory
        every_kind
        @flight.write(@file.path)
        GC.start
        100.times { Flight.read(@file.path, wanted: Format.wanted("csv")) }
        assert_operator ObjectSpace.each_object(Native::Rows).count, :<, 100
      end

      def test_what_is_released_or_in_use
        every_kind
        @flight.write(@file.path)
        written = Flight.read(@file.path, wanted: Format.wanted("csv")).written
        busy = Object.new
        busy.define_singleton_method(:write) { |_| written.release }
        assert_raises(RuntimeError) { Format.made("csv").send(:rows).write(written, busy) }
        sample = -> { Native::Profile.new.samples(written, [:live_bytes], FlightRows.new([], [], {}, &:to_s)) { _1 } }
        assert_nil sample.call
        written.release
        assert_raises(RuntimeError) { sample.call }
        assert_raises(RuntimeError) { Format.made("csv").send(:rows).write(written, StringIO.new) }
        assert_raises(RuntimeError) { written.empty? }
      end

      def test_names_that_raise_or_answer_nonsense
        every_kind
        @flight.write(@file.path)
        written = Flight.read(@file.path, wanted: Format.wanted("csv")).written
        shape = Csv::SHAPE
        numbers = Object.new.tap { |names| names.define_singleton_method(:cell) { |_| 1 } }
        assert_raises(TypeError) { written.write([["", :path]], shape, numbers) { nil } }
        assert_raises(NoMethodError) { written.write([["", :path]], shape, Object.new) { nil } }
        assert_raises(ArgumentError) { written.write([["", :nothing]], shape, Object.new) { nil } }
        assert_raises(TypeError) { written.write([[1, :path]], shape, Object.new) { nil } }
        assert_raises(TypeError) { written.write([["", :path]], {}, Object.new) { nil } }
      end
    end
  end
end
