# frozen_string_literal: true

require "zlib"
require_relative "errors"
require_relative "growth_reader/source"
require_relative "model/growth"
require_relative "native"

module Heapline
  # Reads growth logs: files, directories, patterns, standard input; also compressed, rotated and damaged ones. Memory
  # is bounded, however long they are.
  class GrowthReader
    CHUNK = 1 << 20
    # A line that is longer counts as damaged.
    LINE_MAX = 16 << 20
    # Series (a site in a process) that are kept; see ext/heapline/growth_store.h.
    SERIES_MAX = 10_000

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

    # A Model::Growth of all that could be read.
    def read
      store = Native::GrowthStore.new(@by, SERIES_MAX, since_ms, @pids)
      @read = 0
      @sources.sort_by(&:first_time).each { |source| read_source(source, store) }
      series = []
      store.each_series { |one| series << one }
      Model::Growth.new(processes: store.processes, series: series, counts: store.counts, by: @by)
    end

    private

    def read_source(source, store)
      before = @read
      source.open do |io, position|
        @progress&.call(before + position.call, total) while feed_chunk(io, store)
      end
      @read = before + source.size.to_i
    rescue SystemCallError, Zlib::Error => e
      @problems << "#{source.name}: #{e.message}; what lay before it was read"
    end

    # Whole lines of about CHUNK bytes; false at the end. What was read before a failure is not lost.
    def feed_chunk(io, store)
      chunk = io.readpartial(CHUNK)
      begin
        chunk << io.gets("\n", LINE_MAX).to_s unless chunk.end_with?("\n")
      ensure
        store.feed(chunk)
      end
      true
    rescue EOFError
      false
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
