# frozen_string_literal: true

module Heapline
  class Capture
    # What the classes of recorded objects are called.
    module ClassName
      # By the VM's number, as the accounting of objects calls what has no class.
      TYPES = { 1 => "T_OBJECT", 2 => "T_CLASS", 3 => "T_MODULE", 4 => "T_FLOAT", 5 => "T_STRING", 6 => "T_REGEXP",
                7 => "T_ARRAY", 8 => "T_HASH", 9 => "T_STRUCT", 10 => "T_BIGNUM", 11 => "T_FILE", 12 => "T_DATA",
                13 => "T_MATCH", 14 => "T_COMPLEX", 15 => "T_RATIONAL", 26 => "T_IMEMO", 28 => "T_ICLASS" }.freeze
      NONE = "(other)"

      # Names of rows [name or nil, type] of Native::Capture#classes, in their order.
      def self.all(rows)
        rows.map { |name, type| name || TYPES.fetch(type, NONE) }
      end
    end
  end
end
