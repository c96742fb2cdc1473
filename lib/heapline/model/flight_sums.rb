# frozen_string_literal: true

require_relative "location"
require_relative "site"

module Heapline
  module Model
    # What FlightSites is without the sites: one Site with what lives of each kind, for readers that need no more.
    class FlightSums
      # The Site of Ruby lines and that of all others; that of quiet.
      attr_reader :counted, :quiet

      # raw: what Native.choose_sites returned.
      def initialize(raw)
        @counted = [site(:ruby, raw[:live_ruby_bytes], raw[:live_blocks]), site(:native, raw[:live_native_bytes], 0)]
        @quiet = site(:special, raw[:live_quiet_bytes], 0)
        freeze
      end

      private

      # Blocks are known of all together.
      def site(kind, bytes, blocks)
        Site.new(**Site::ZERO, location: Location.new(special: "(#{kind})"), kind: kind, live_bytes: bytes,
                               live_blocks: blocks)
      end
    end
  end
end
