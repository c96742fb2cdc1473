# frozen_string_literal: true

module Heapline
  module Model
    # Where a thread or a fiber is. kind: :thread or :fiber. address: of its object, "0x…". label: as Ruby names it,
    # with its state. backtrace: Array of String, the innermost line first. held: Hash of class name => number of
    # objects that it refers to directly, most first.
    Stack = Struct.new(:kind, :address, :label, :backtrace, :held, keyword_init: true) do
      # "sleep_forever", "run", "suspended" …; nil where the label says none.
      def state
        label[/[ (](\w+)\)?>\z/, 1]
      end

      # The name that the program gave a thread; nil without.
      def name
        label[/\A#<[^@>]+@(.*?)(?: \S+:\d+)? \w+>\z/m, 1]
      end
    end
  end
end
