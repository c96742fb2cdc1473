# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "heapline/accounting/flight"

module Heapline
  module Accounting
    # Files that are not what they say: always a FlightError with a reason, or a valid Snapshot.
    class FlightDamageTest < Minitest::Test
      include OwnDirectory

      MUTATIONS = 1000

      def setup
        super
        @path = File.join(@directory, "1-1.flight")
      end

      def assert_refused(message, bytes)
        File.binwrite(@path, bytes)
        error = assert_raises(FlightError) { Flight.read(@path) }
        assert_match message, error.message
        assert_includes error.message, @path
      end

      def test_foreign_files
        assert_refused(/not a flight file/, "")
        assert_refused(/not a flight file/, "#!/bin/sh\n")
        assert_refused(/not a flight file/, "x" * 50_000)
        assert_refused(/version 9.*reads version 6/, FlightBuilder.new.to_s(version: 9))
        assert_refused(/byte order/, FlightBuilder.new.to_s(byte_order: 0x04030201))
      end

      def test_no_regular_file
        error = assert_raises(FlightError) { Flight.read(@directory) }
        assert_match(/not a regular file/, error.message)
        File.mkfifo(@path)
        assert_match(/not a regular file/, assert_raises(FlightError) { Flight.read(@path) }.message)
        assert_match(/No such file/, assert_raises(FlightError) { Flight.read("#{@path}.none") }.message)
      end

      def test_cut_short
        bytes = FlightBuilder.new.to_s
        assert_refused(/cut short: it has 100 of/, bytes[0, 100])
        assert_refused(/cut short: it has 4096 of 16384 bytes/, bytes[0, 4096])
        assert_refused(/cut short/, bytes[0...-1])
      end

      def test_counts_in_the_header
        { page_count: 3, site_count: (1 << 20) + 1, library_count: (1 << 14) + 1, tag_count: (1 << 17) + 1,
          command_length: 1025 }.each do |field, value|
          assert_refused(/damaged/, FlightBuilder.new.to_s(field => value))
        end
        assert_refused(/damaged/, FlightBuilder.new.to_s(page_count: 1 << 40))
        assert_refused(/cut short/, FlightBuilder.new.to_s(page_count: 1 << 20))
      end

      # The lane's chunks, a chunk's base, the next lane.
      def test_cells_out_of_reach
        [->(builder) { builder.lane_at(0) + 4 }, ->(builder) { builder.chunk_at(0) + 4 },
         ->(builder) { builder.lane_at(0) }].product([3, 1_000_000, 0xffffffff]) do |place, cell|
          builder = FlightBuilder.new
          builder.count(0, builder.ruby_site("a.rb", 1), allocations: 1)
          builder.put(place.call(builder), [cell].pack("L"))
          assert_refused(/refers to cell #{cell} of/, builder.to_s)
        end
      end

      def test_lists_that_lead_in_circles
        builder = FlightBuilder.new
        builder.count(1, builder.ruby_site("a.rb", 1), allocations: 1)
        builder.put(builder.chunk_at(1), [builder.chunk_at(1) / FlightBuilder::CELL].pack("L"))
        assert_refused(/chunk at cell \d+ follows one at/, builder.to_s)
        builder.put(builder.chunk_at(1), [0].pack("L"))
        builder.put(builder.lane_at(1), [builder.lane_at(1) / FlightBuilder::CELL].pack("L"))
        assert_refused(/lane 1 stands in the place of lane 2/, builder.to_s)
      end

      def test_chunks_of_impossible_size
        builder = FlightBuilder.new
        builder.count(0, builder.ruby_site("a.rb", 1), allocations: 1)
        builder.put(builder.chunk_at(0) + 8, [59].pack("L"))
        assert_refused(/room for 59 sites in a lane's chunk/, builder.to_s)
      end

      def test_strings_out_of_reach
        builder = FlightBuilder.new
        site = builder.ruby_site("a.rb", 1)
        builder.count(0, site, allocations: 1)
        [1, 0xffffffff].each do |place|
          builder.put(builder.site_at(site) + 8, [place].pack("L"))
          assert_refused(/refers to a string/, builder.to_s)
        end
      end

      def test_libraries_and_kinds_out_of_reach
        builder = FlightBuilder.new
        site = builder.ruby_site("a.rb", 1)
        builder.put(builder.site_at(site) + 2, [20_000].pack("S"))
        assert_refused(/refers to name 20000/, builder.to_s)
        builder.put(builder.site_at(site) + 1, [9, 0].pack("CS"))
        assert_refused(/kind 9/, builder.to_s)
      end

      def test_nothing_that_is_flipped_or_cut_crashes_the_reader
        bytes = sample
        random = Random.new(4711)
        refused = 0
        MUTATIONS.times { refused += 1 unless readable?(mutate(bytes, random)) }
        assert_operator refused, :>, MUTATIONS / 10, "the mutations did no harm at all"
        assert_operator refused, :<, MUTATIONS, "no mutated file was readable"
      end

      private

      def sample
        builder = FlightBuilder.new(baseline: 2, baseline_kind: 2)
        sites = (1..70).map { |line| builder.ruby_site("a.rb", line, label: "A#a", library: "l.so", tag: "t") }
        sites.each do |site|
          builder.count(site % 3, site, allocations: 9, bytes_allocated: 90, frees: 1, bytes_freed: 10)
        end
        builder.lane(1, baseline: 2, owner: 7)
        builder.base(1, sites.first, allocations: 1, bytes_allocated: 10)
        builder.old(1, sites.first, frees: 1, bytes_freed: 10)
        builder.to_s
      end

      # Where the reader follows numbers: the header, the tables, records and directories; sometimes the end is cut.
      def mutate(bytes, random)
        mutated = bytes.dup
        random.rand(1..4).times do
          offset = random.rand(4).zero? ? random.rand(bytes.bytesize) : interesting(bytes, random)
          mutated.setbyte(offset, random.rand(256))
        end
        random.rand(20).zero? ? mutated[0, random.rand(bytes.bytesize)] : mutated
      end

      def interesting(bytes, random)
        @interesting ||= (0...bytes.bytesize).reject { |offset| bytes.getbyte(offset).zero? }
        @interesting[random.rand(@interesting.size)]
      end

      def readable?(bytes)
        File.binwrite(@path, bytes)
        begin
          Flight.totals(@path)
        rescue FlightError
          nil # the counts are damaged
        end
        Flight.read(@path)
        true
      rescue FlightError => e
        assert_operator e.message.bytesize, :<, 600
        false
      end
    end
  end
end
