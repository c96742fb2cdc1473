# frozen_string_literal: true

require_relative "../model/object_type"

module Heapline
  class Capture
    # What the classes of recorded objects are called.
    module ClassName
      # Objects for whose class the table had no room.
      NONE = "(other)"

      # Names of rows [name or nil, type] of Native::Capture#classes, in their order. What has no class is called as
      # the accounting of objects calls it.
      def self.all(rows)
        rows.map { |name, type| name || (type.zero? ? NONE : Model::ObjectType.name_of(type)) }
      end
    end
  end
end
