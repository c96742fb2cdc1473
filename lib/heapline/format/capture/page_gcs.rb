# frozen_string_literal: true

module Heapline
  module Format
    module Capture
      # The GCs of a capture as columns for its page. Where they are more than a screen has pixels for, neighbours are
      # told together.
      module PageGcs
        MOST = 4000
        DIGITS = 6 # of seconds

        # collections: Array of Model::Capture::Collection. `first` and `last` are generations, `time` and `until`
        # seconds since the recording began (until: nil where the end was not seen), `still` those for which the program
        # stood still (nil: not known).
        def self.of(collections, most: MOST)
          size = [(collections.size + most - 1) / most, 1].max
          rows = collections.each_slice(size).map { |gcs| row(gcs) }
          %i[first last time until still].zip(rows.transpose).to_h { |name, column| [name, column || []] }
        end

        def self.row(gcs)
          first = gcs.first
          last = gcs.last
          stood = gcs.filter_map(&:gc_seconds)
          [first.generation, last.generation, round(first.time), last.seconds && round(last.time + last.seconds),
           (round(stood.sum) unless stood.empty?)]
        end

        def self.round(seconds)
          seconds.round(DIGITS)
        end
        private_class_method :row, :round
      end
    end
  end
end
