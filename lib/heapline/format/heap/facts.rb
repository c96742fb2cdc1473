# frozen_string_literal: true

require_relative "../units"

module Heapline
  module Format
    module Heap
      # What a dump is, in words.
      module Facts
        # summary: Model::Heap::Summary. Array of Strings, not inert.
        def self.of(summary)
          objects = "#{Units.count(summary.objects)} #{summary.objects == 1 ? "object" : "objects"}"
          [objects, Units.bytes(summary.bytes), ruby(summary.ruby),
           summary.pid && "pid #{summary.pid}", summary.time&.getlocal&.strftime("%Y-%m-%d %H:%M:%S")].compact
        end

        # "Ruby 3.4.1" of a description; nil of nil.
        def self.ruby(text)
          text && "Ruby #{text[/\A(?:ruby )?(\S+)/, 1]}"
        end
      end
    end
  end
end
