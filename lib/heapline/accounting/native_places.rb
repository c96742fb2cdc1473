# frozen_string_literal: true

require_relative "../places/location"
require_relative "../places/symbols"
require_relative "site"

module Heapline
  module Accounting
    # Rows of native code with the names that debug information and symbol tables have for them.
    module NativePlaces
      ALLOCATORS = %w[malloc calloc realloc].freeze # inlined wrappers of them are not who asks
      # Parts of the Ruby VM, by how their exported functions are called. A function of the VM that is not exported lies
      # near those of its source file.
      PARTS = { /\A(?:rb_)?st_|\Arb_hash/ => "hash tables", /\Arb_(?:sym|id|intern|to_id|check_id)/ => "symbols",
                /\A(?:ruby_x|ruby_sized|ruby_gc|rb_(?:gc|objspace|memory|data_|free_tmp|alloc_tmp))/ => "memory",
                /\Arb_(?:iseq|compile|node|ast|parser|ruby_verbose|bug_)/ => "parser and compiler",
                /\Arb_(?:vm|method|callable|obj_call|call|func|yield|block|proc|frame)/ => "methods and calls",
                /\A(?:rb_(?:thread|mutex|fiber|monitor|postponed|nogvl)|ruby_thread)/ => "threads and fibers",
                /\Arb_(?:str|enc|econv|must_asciicompat|obj_encoding)/ => "strings", /\Arb_ary/ => "arrays",
                /\Arb_(?:class|module|const|ivar|cv|gv|define|singleton|attr|alias|undef)/ => "classes and constants",
                /\A(?:onig|rb_reg|rb_backref)/ => "regular expressions", /\A(?:rb_io|rb_file|rb_dir)/ => "files",
                /\Arb_(?:require|feature|load|provide)/ => "loading of code" }.freeze

      # The rows, in their order, with "parse  parser.c:120" for a label where that is known. options: of `functions`.
      def self.named(rows, **options)
        labels = functions(rows.map(&:location), **options)
        rows.map { |row| labels[row.location] ? labelled(row, labels[row.location]) : row }
      end

      # Hash of place => what is called there, of those of which more is known than their label. of_vm: of the VM's code
      # alone. A tool is run for each library, for what `functions` does not know yet.
      def self.functions(places, of_vm: false, functions: Places::Functions.new(Places::Symbols.new))
        meant = places.select { |place| native?(place) && (!of_vm || place.stage) }
        names = meant.group_by(&:library_path)
                     .to_h { |path, same| [path, functions.at(path, same.map { |place| call(place) }.uniq)] }
        meant.to_h { |place| [place, function(names, place, functions)] }.compact
      end

      def self.labelled(row, label)
        row.class.new(**row.to_h, location: Places::Location.new(**row.location.to_h, label: label))
      end

      # Behind a call lies where it returns to.
      def self.call(place)
        place.offset - 1
      end

      def self.native?(place)
        place.library_path && place.offset && !place.path && !place.library_path.include?("\0")
      end

      def self.function(names, place, functions)
        called = names.fetch(place.library_path)[call(place)]
        name = called.find { |one| !ALLOCATORS.include?(one.function) } || called.first
        return (part(place, functions) unless place.label) unless name.function

        [short(name.function), *("#{Places::BaseName.of(name.file)}:#{name.line}" if name.file)].join("  ")
      end

      # Of what is the VM's and has no name itself: "VM: hash tables, near rb_hash_new".
      def self.part(place, functions)
        return unless place.stage

        near = functions.object(place.library_path).nearest(place.offset)
        part = PARTS.find { |pattern, _| near.match?(pattern) }&.last if near
        near && "VM#{": #{part}" if part}, near #{near}"
      end

      # Without what C++ templates were made with, which may fill screens.
      def self.short(function)
        plain = function.gsub(/<[^<>]*>/, "")
        plain == function ? plain : short(plain)
      end
      private_class_method :labelled, :call, :native?, :function, :part, :short
    end
  end
end
