# frozen_string_literal: true

require_relative "location"
require_relative "site"

module Heapline
  module Model
    # Makes Sites of what Native.each_site yields. There may be 100,000 and more: values are taken and given in order,
    # and names are looked at once.
    class FlightSites
      KINDS = { 0 => :special, 1 => :ruby, 2 => :native }.freeze
      SPECIAL = { 0 => "(none)", 1 => "(other)", 2 => "(quiet)", 3 => "(exiting threads)" }.freeze
      # The site of what was born inside quiet: in no total.
      QUIET = 2

      # The sites that count, as Sites in the order of the file; that of quiet, or nil; and those that were to be
      # remembered, a Hash of number => Site.
      attr_reader :counted, :quiet, :remembered

      # remember: numbers (Array) of sites.
      def initialize(remember: [])
        @counted = []
        @base_names = { nil => nil }
        @remembered = remember.to_h { |number| [number, nil] }
      end

      # The values of one site in the order of Native::SITE_FIELDS.
      def add(number, kind, path, line, label, library, tag, offset, symbol_offset, allocations, frees,
              bytes_allocated, bytes_freed, age_sum, age_max, age_ms_sum, age_ms_max, temporary, base_allocations,
              base_frees, base_bytes_allocated, base_bytes_freed, new_frees, new_bytes_freed, base_age_sum,
              base_age_ms_sum, base_temporary, _new_age_max)
        blocks = allocations - base_allocations
        bytes = bytes_allocated - base_bytes_allocated
        site = Site.new(location(number, kind, path, line, label, library, offset, symbol_offset), KINDS[kind], tag,
                        allocations, frees, bytes_allocated, bytes_freed, bytes_allocated - bytes_freed,
                        allocations - frees, bytes - (bytes_freed - base_bytes_freed), blocks - (frees - base_frees),
                        bytes - new_bytes_freed, blocks - new_frees, blocks, bytes, age_sum, age_max, age_ms_sum,
                        age_ms_max, temporary, age_sum - base_age_sum, age_ms_sum - base_age_ms_sum,
                        temporary - base_temporary)
        number == QUIET ? @quiet = site : @counted << site
        @remembered[number] = site if @remembered.key?(number)
        site
      end

      private

      def location(number, kind, path, line, label, library, offset, symbol_offset)
        name = @base_names[library] ||= base_name(library)
        case kind
        when 0 then Location.new(nil, nil, nil, nil, nil, nil, nil, SPECIAL.fetch(number, "(unknown)"))
        when 1 then Location.new(path || "(unknown)", line, label, name, library, nil, nil, nil)
        else Location.new(nil, nil, native_label(label, symbol_offset), name, library, label, offset, nil)
        end
      end

      # File.basename refuses what may stand in a damaged file (NUL).
      def base_name(path)
        path && path.b.rpartition("/").last.force_encoding(Encoding::UTF_8).freeze
      end

      def native_label(symbol, offset)
        symbol && format("%<symbol>s+0x%<offset>x", symbol: symbol, offset: offset)
      end
    end
  end
end
