# frozen_string_literal: true

# Its figures, and what is counted.
module Heapline
  class << self
    # Are the allocations of this process counted? False where it was not started by `heapline`.
    def enabled?
      Native.enabled?
    end

    # Yields what each location counted since the last baseline (the start, `clear`, or a fork), in no order:
    #
    #   Heapline.each(1_000_000) { |location, total, allocations, frees, age_total, max_lifespan| … }
    #
    # Only locations whose total is greater than `min` bytes. `total` is bytes allocated, `frees` counts the blocks
    # among `allocations` that were freed; age_total and max_lifespan are GC generations, see Row. Without a block: an
    # Enumerator. Returns nil. Raises NotEnabled without the preload.
    def each(min = 0)
      return to_enum(:each, min) unless block_given?

      rows.each do |row|
        next unless row.total > min

        yield row.location, row.total, row.allocations, row.frees, row.age_total, row.max_lifespan
      end
      nil
    end

    # What `location` ("app.rb:12", "libxml2.so.2+0x1f30") counted since the last baseline: a Row, or nil where nothing
    # was allocated. Raises NotEnabled.
    def [](location)
      name = String.try_convert(location)
      raise TypeError, "a location is a String such as \"app.rb:12\", not #{location.inspect}" unless name

      quiet { Row.find(raw_sites, name) }
    end

    # The Rows of the locations where something was allocated or freed since the last baseline (frozen Array). Raises
    # NotEnabled.
    def rows
      quiet { Row.of(raw_sites) }
    end

    # Begin a new baseline: totals, allocations, frees and growth count from here. What lives stays known: freeing it
    # later disturbs no figure. Returns nil. Raises NotEnabled.
    def clear
      Native.baseline
      nil
    end
    alias reset clear

    # Bytes allocated by this process since the last baseline. Raises NotEnabled.
    def total_bytes_allocated
      total(&:first)
    end

    # How many of these bytes were freed: total_bytes_allocated less this lives. Raises NotEnabled.
    def total_bytes_freed
      total(&:last)
    end

    # What is allocated in the block, by this fiber, is in no figure; what it frees is counted as ever. Nests; yields
    # the depth (1: outermost). Other threads are counted on. Returns the block's value. Without the preload the block
    # is just called, with 1.
    def quiet
      return yield(1) unless enabled?

      FiberState.follow
      depth = Native.quiet_enter
      begin
        FiberState.remember(FiberState::QUIET, depth)
        yield depth
      ensure
        FiberState.remember(FiberState::QUIET, depth - 1)
        Native.quiet_set(depth - 1)
      end
    end

    # Write one line for each location whose total is greater than `min` bytes: total bytes, allocations, location,
    # since the last baseline. `io` is anything with `write`. Returns nil. Raises NotEnabled.
    def dump(io = $stderr, min = 0)
      quiet do
        Row.dump(rows, io, min)
      end
    end

    # A frozen copy of all that this process has counted so far (Accounting::Snapshot). What the copy itself takes is in
    # no figure. Two of them subtract: `(after - before).top(5)`. wanted: where some rows are enough
    # (Accounting::Flight::Wanted). Raises NotEnabled.
    def snapshot(wanted: nil)
      quiet { Accounting::Flight.read(Native.flight_fd, live: true, wanted: wanted) }
    end

    private

    def raw_sites
      Native.read_flight(Native.flight_fd, true)[:sites]
    end

    # The core's totals count from the start and cost nothing; from a later baseline the sites must be added up.
    def total
      quiet do
        source = Native.flight_fd
        return yield(Native.totals) if Accounting::Flight.header(source)[:baseline].zero?

        found = rows
        yield [found.sum(&:total), found.sum(&:bytes_freed)]
      end
    end
  end
end
