# frozen_string_literal: true

require_relative "../errors"
require_relative "source"
require_relative "history"
require_relative "../native"

module Heapline
  # Reads growth logs: files, directories, patterns, standard input; also compressed, rotated and damaged ones. Memory
  # is bounded, however long they are.
  class GrowthReader
    # A line that is longer counts as damaged.
    LINE_MAX = 16 << 20
    # So many bytes without any line of a log, and no more is read: it may have no end.
    NOTHING_MOST = 1 << 30
    # Series (a site in a process) that are kept, in about 400 MB; see ext/heapline/growth_store.h.
    SERIES_MAX = 160_000

    # by: :site, :file, :gem, :library or :tag. since: Time, or seconds before the newest line. pids: Array of Integer;
    # empty: all. progress: called with [bytes read, bytes in all or nil].
    def initialize(names, by: :site, since: nil, pids: [], input: $stdin, progress: nil)
      @sources = Source.all(names, input)
      @by = by
      @since = since
      @pids = pids
      @progress = progress
      @problems = []
    end

    # Array of Strings: what could not be read, and why. Complete after `read`.
    attr_reader :problems

    # A Growth::History of all that could be read.
    def read
      store = Native::GrowthStore.new(@by, SERIES_MAX, since_ms, @pids)
      @read = 0
      @sources.sort_by(&:first_time).each { |source| read_source(source, store) }
      sites = store.sites.map { |names, numbers| [names, numbers.lazy.map { |number| store.series(number) }] }
      Growth::History.new(processes: store.processes, sites: sites, counts: store.counts, by: @by)
    end

    # Why there is no line in a Growth::History without one.
    def self.reason(growth)
      counts = growth.counts
      return " is left after --since and --pid" if counts[:filtered].positive?
      return ": they are as another version of heapline writes them" if counts[:other_version].positive?
      return ": all are damaged" if counts[:damaged].positive?

      ": a log is written by HEAPLINE=log:FILE or `heapline log PID -o FILE`"
    end

    private

    # What was read before a failure is not lost.
    def read_source(source, store)
      before = @read
      rest = "".b
      source.open do |input|
        useful = useful_lines(store)
        nothing = 0
        while (bytes = input.chunk)
          rest = feed(rest, bytes, store)
          @progress&.call(before + input.position, total)
          nothing = (now = useful_lines(store)) == useful ? nothing + bytes.bytesize : 0
          useful = now
          input.fail_with("has #{nothing >> 20} MB without a line of a growth log") if nothing >= NOTHING_MOST
        end
      end
      @read = before + source.size.to_i
    rescue InputError => e
      @problems << "#{e.message}; what comes before it was read"
    ensure
      store.feed(rest)
    end

    # Whole lines go to the store; what is left is the beginning of the next one.
    def feed(rest, bytes, store)
      last = bytes.rindex("\n")
      rest << bytes
      return rest unless last || rest.bytesize > LINE_MAX

      cut = last ? rest.bytesize - bytes.bytesize + last + 1 : rest.bytesize
      store.feed(rest.byteslice(0, cut))
      rest.byteslice(cut..)
    end

    def useful_lines(store)
      store.counts.values_at(:taken, :repeated, :filtered).sum
    end

    # Bytes of all files; nil where one has no size.
    def total
      @total ||= @sources.all?(&:size) ? @sources.sum(&:size) : nil
    end

    def since_ms
      return @since && (@since.to_f * 1000) unless @since.is_a?(Numeric)

      newest = @sources.filter_map(&:last_time).max
      newest && (newest - (@since * 1000))
    end
  end
end
