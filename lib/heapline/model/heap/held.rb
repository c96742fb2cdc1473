# frozen_string_literal: true

require_relative "group"

module Heapline
  module Model
    module Heap
      # What an object holds, by class: a Hash of 100,000 sessions is one row.
      module Held
        # So many of what it holds at once are looked at, the largest.
        LOOKED_AT = 20_000

        # Array of Group by class, the largest first: `bytes` is what the objects retain. holders: Array of Holder, what
        # Dominators#children gives of one
        def self.by_class(holders)
          groups = holders.group_by { |holder| holder.object.class_name }.map { |name, same| group(name, same) }
          groups.sort_by { |group| [-group.bytes, group.key] }
        end

        def self.group(name, holders)
          Group.new(key: name, count: holders.size, bytes: holders.sum(&:retained_bytes),
                    slot_bytes: holders.sum { |holder| holder.object.slot_bytes })
        end
        private_class_method :group
      end
    end
  end
end
