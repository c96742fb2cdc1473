# frozen_string_literal: true

module Heapline
  module Model
    # What an object is to the VM, by the number that it has there: the same in all Rubies.
    module ObjectType
      NAMES = { 0 => "T_NONE", 1 => "T_OBJECT", 2 => "T_CLASS", 3 => "T_MODULE", 4 => "T_FLOAT", 5 => "T_STRING",
                6 => "T_REGEXP", 7 => "T_ARRAY", 8 => "T_HASH", 9 => "T_STRUCT", 10 => "T_BIGNUM", 11 => "T_FILE",
                12 => "T_DATA", 13 => "T_MATCH", 14 => "T_COMPLEX", 15 => "T_RATIONAL", 20 => "T_SYMBOL",
                26 => "T_IMEMO", 27 => "T_NODE", 28 => "T_ICLASS", 29 => "T_ZOMBIE", 30 => "T_MOVED" }.freeze

      # "T_STRING" of 5.
      def self.name_of(number)
        NAMES.fetch(number) { "T_#{number}" }
      end
    end
  end
end
