# frozen_string_literal: true

require_relative "../accounting/flight"
require_relative "../errors"
require_relative "../extension"
require_relative "libraries"

module Heapline
  module Corefile
    # A Location and what lived there.
    Row = Struct.new(:location, :live_blocks, :live_bytes)

    # A class of Ruby's objects. object_bytes: their slots and the C blocks that they lead to.
    ClassRow = Struct.new(:name, :objects, :slot_bytes, :block_bytes) do
      def object_bytes
        slot_bytes + block_bytes
      end
    end

    # Strings or arrays (type) of which the bytes lie at: :slot, :elsewhere, or in blocks of so many bytes up to twice
    # that. object_bytes: as of a class.
    SizeRow = Struct.new(:type, :at, :objects, :slot_bytes, :block_bytes) do
      def object_bytes
        slot_bytes + block_bytes
      end
    end

    # An arena of an allocator's: glibc's has an address, jemalloc's an index. Bytes of glibc's are those of chunks with
    # their headers. free_bytes: without the top chunk. retained_bytes: addresses whose memory the kernel has back.
    Arena = Struct.new(:number, :allocator, :address, :index, :system_bytes, :found_bytes, :used_bytes, :free_bytes,
                       :top_bytes, :retained_bytes, :free_chunks, :largest_free_bytes)

    # A block, or a free chunk. arena: its number, nil where it has a mapping for itself; location: its Location, nil
    # where that is not known.
    Chunk = Struct.new(:address, :bytes, :arena, :used, :location)

    # A line that a thread was in.
    Frame = Struct.new(:thread, :path, :lineno, :label) do
      def location
        "#{path}:#{lineno}"
      end
    end

    # What is lost, by Location or, where that is not known (nil), by size: name says which.
    Leak = Struct.new(:name, :location, :blocks, :bytes)
    # used, cached: [blocks, bytes] that the program has, and that allocators keep for later; rows: Array of Leak
    Leaks = Struct.new(:used, :cached, :rows)

    # A core file of a process that heapline was preloaded into: what lived, from the trailers of its blocks, and where
    # that was asked for, from its flight file.
    class CoreFile
      # What the core says of itself (Hash); see Native::CoreFile#facts.
      attr_reader :facts

      # flight: its flight file, where that does not lie where the process had it; sysroot: a directory below which its
      # libraries are looked for, too; debuginfod: are servers asked for them? Raises Error.
      def initialize(path, flight: nil, sysroot: nil, debuginfod: false)
        Extension.load(:corefile)
        @path = path
        @core = Native::CoreFile.new(path, sysroot, debuginfod).read
        @libraries = Libraries.new(@core, wanted: sysroot || debuginfod)
        @facts = @core.facts
        demand_memory
        return unless by_line?

        @flight = flight || kept || @facts[:flight]
        raise Error, "#{path}: the process kept its lines in memory only, and cores leave that out" unless @flight
      end

      # Was heapline there? Then there are rows, else classes and frames.
      def by_line?
        @facts[:preloaded]
      end

      # Array of ClassRow
      def classes
        @core.class_rows.map { |row| ClassRow.new(*row) }
      end

      # Array of Frame: of each thread the innermost first. Calls of C are at the lines that called.
      def frames
        @core.frame_rows.map { |row| Frame.new(*row) }
      end

      # Array of SizeRow
      def sizes
        @core.size_rows.map { |row| SizeRow.new(*row) }
      end

      # Array of Arena
      def arenas
        @arenas ||= @core.arena_rows.map.with_index(1) { |row, number| Arena.new(number, *row) }
      end

      # Array of Chunk: the largest, a thousand at most.
      def largest
        places = by_line? ? named : {}
        @core.chunk_rows.map { |*figures, site| Chunk.new(*figures, places[site]) }
      end

      # { Location => "parse  parser.c:120" } of those Location that are addresses in libraries and have a name.
      def functions(places)
        @libraries.functions(places)
      end

      # Array of Row, one a location, in no order. What was asked for inside quiet is in none.
      def rows
        @rows ||= lines.transform_values { |rows| Row.new(rows.first.first, *sums(rows)) }.values
      end

      # Writes all objects and C blocks as lines of a heap dump; those of heapline's blocks have their lines. contents:
      # also what is in strings.
      def write_heap(file, contents: false)
        rows = by_line? ? named.filter_map { |site, place| [site, place.path, place.lineno] if place.path } : []
        file.flush
        @core.write_heap(file.fileno, rows, contents)
      end

      # Addresses of the blocks of a line, at most `limit`.
      def blocks_of(line, limit:)
        @core.block_addresses(named.select { |_, place| place.to_s == line }.keys, limit)
      end

      # Where the block begins in which `address` lies, or 0.
      def block_at(address)
        @core.block_at(address)
      end

      # Gives memory back that was taken to follow what is in the core.
      def forget
        @core.forget
      end

      # What the program lost: Leaks.
      def leaks
        used, cached, rows = @core.leak_rows
        places = by_line? ? named : {}
        rows = rows.map do |site, size, *sums|
          text = places[site]&.to_s || (site.zero? ? "blocks of #{Units.bytes(size)}" : "(not in the flight file)")
          Leak.new(text, places[site], *sums)
        end
        Leaks.new(used, cached, rows.group_by(&:name).map { |_, same| sum(same) })
      end

      # Array of String: what could not be read, and which libraries were not found for what was asked for so far.
      def problems
        [*cut, *unread, *incomplete, *left_out, *@libraries.problems]
      end

      private

      def sum(leaks)
        Leak.new(leaks[0].name, leaks[0].location, leaks.sum(&:blocks), leaks.sum(&:bytes))
      end

      # Location by site, of what lives.
      def named
        @named ||= begin
          numbers = @core.live_rows.map(&:first).reject { |site| site == Accounting::FlightSites::QUIET }
          sites = places(numbers)
          numbers.to_h { |site| [site, location(sites, site)] }
        end
      end

      def demand_memory
        return if by_line? ? @facts[:blocks] : @facts[:ruby]
        raise Error, "#{@path}: neither heapline nor objects of Ruby 3.1 or newer are in it" unless by_line?

        raise Error, "#{@path}: #{no_blocks}"
      end

      # Rows of a site by the name of their place.
      def lines
        rows = @core.live_rows.filter_map { |site, *figures| [named[site], *figures] if named[site] }
        rows.group_by { |location,| location.to_s }
      end

      def sums(rows)
        [rows.sum { |row| row[1] }, rows.sum { |row| row[2] }]
      end

      def location(sites, number)
        sites[number]&.location || Places::Location.new(special: "(not in the flight file)")
      end

      def places(numbers)
        raw = Accounting::Flight.choose(@flight) { numbers }
        demand_the_same(raw)
        raw[:sites]
      rescue Errno::ENOENT, FlightError => e
        raise Error, "the lines of this process are in its flight file, which cannot be read (#{e.message}): keep it " \
                     "with the core, and name it with --flight"
      end

      # The flight in the core itself (HEAPLINE=core), as the number of a descriptor that is the core's.
      def kept
        @facts[:kept_flight]
      end

      # Processes have the same number one after the other: with when it began, it is one.
      def demand_the_same(raw)
        return if raw[:start_ticks] == @facts[:start_ticks]

        other = raw[:pid] == @facts[:pid] ? "an earlier or later process #{raw[:pid]}" : "process #{raw[:pid]}"
        raise Error, "#{@flight} is of #{other}, the core of #{@facts[:pid]}"
      end

      def left_out
        @facts[:left_out] ? ["it has more blocks than heapline looks at: the bytes of classes lack some of them"] : []
      end

      # Array of String
      def cut
        return [@facts[:problem]] if @facts[:problem]

        missing = @facts[:missing_bytes]
        missing.zero? ? [] : ["the file is cut: #{Units.count(missing)} bytes of the memory are not in it"]
      end

      # Array of String
      def unread
        @facts[:unread] || (arenas.empty? && cut.empty?) ? [no_blocks] : []
      end

      def no_blocks
        "the blocks of #{@facts[:unread] || "its allocator"} were not found: heapline knows those of glibc, and of " \
          "jemalloc from 5.0 to 5.3"
      end

      def incomplete
        arenas.reject { |arena| arena.system_bytes == arena.found_bytes }.map do |arena|
          format("the arena at 0x%<at>x: of %<all>s bytes %<found>s were found",
                 at: arena.address, all: Units.count(arena.system_bytes), found: Units.count(arena.found_bytes))
        end
      end
    end
  end
end
