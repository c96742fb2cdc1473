# frozen_string_literal: true

module Heapline
  module Model
    # One piece of compiled code: an instruction sequence, of a method, a block, a class's body, a file. Unknown is nil.
    #
    # address::     Integer, of the internal object
    # path::        as __FILE__ has it, or as eval was told; nil where a dump does not tell
    # line, column:: where it begins
    # label::       "block in render"; method_name:: the method (or else what has its base label) around it,
    #               "Shop#render"; method_line:: where that begins
    # bytes::       memsize: the slot, and all that it has outside of it
    # reached::     does a method of a class or module lead to it?
    # birth::       Location of the line that had it compiled; generation:: GC.count then
    # copy::        is it compiled again, another one of the same place being older?
    CodePiece = Struct.new(:address, :path, :line, :column, :label, :method_name, :method_line, :bytes, :reached,
                           :birth, :generation, :copy, keyword_init: true) do
      # row: a line of the type HEAPLINE_CODE, parsed (Hash); sites: Hash of number => LiveSite.
      def self.of(row, sites)
        new(address: Integer(row.fetch("address"), 16), path: row["path"], line: row["line"], column: row["column"],
            label: row["label"], method_name: row["method"], method_line: row["method_line"], bytes: row.fetch("bytes"),
            reached: row["reached"] == 1, birth: sites[row["site"]]&.location, generation: row["generation"])
      end

      # What all copies have in common; nil where that cannot be told: without lines two blocks look alike.
      def place
        [path, line, column, label] if path && (line || label == method_name)
      end
    end
  end
end
