# frozen_string_literal: true

require_relative "../figures/units"
require_relative "../table/sheet"

module Heapline
  module Heap
    # How an object of a dump (Heap::Object) is called. The texts are not inert yet: that is the matter of what
    # shows them. Values of strings are contents of memory; values: false leaves them out.
    class ObjectWords
      # Characters of a value that are shown.
      LONGEST = 40
      # Characters of an address.
      ADDRESS = 14
      # Steps to the right that are shown.
      DEEPEST = 12
      CONTAINERS = { "ARRAY" => "elements", "HASH" => "pairs" }.freeze
      # What the VM's roots are, by the names that a dump has.
      ROOTS = { "vm" => "the VM: classes, threads, constants at the top", "machine_context" => "stacks and registers",
                "global_tbl" => "global variables", "global_list" => "variables of C code",
                "end_proc" => "at_exit blocks", "finalizers" => "finalizers", "global_symbols" => "symbols",
                "global_id" => "symbols", "object_id" => "object ids", "ractor" => "Ractors" }.freeze

      def initialize(values: true)
        @values = values
      end

      # "#<Session>", "Array", "String "text…"", "Cart" (a class), "root vm": as it stands in a path.
      def short(object)
        case object.type
        when "ROOT" then "root #{object.class_name}"
        when "CLASS", "MODULE" then module_name(object)
        when "STRING", "SYMBOL", "FLOAT", "BIGNUM" then valued(object)
        when "OBJECT", "DATA", "STRUCT", "FILE" then instance(object.class_name)
        else object.class_name
        end
      end

      # The same with how much is in it: "Array of 12 elements".
      def long(object)
        return root(object) if object.root?
        return "#{object.type.downcase} #{short(object)}" if %w[CLASS MODULE].include?(object.type)

        what = CONTAINERS[object.type]
        return "#{short(object)} of #{count(object.length, what)}" if what && object.length

        tells?(object) ? "#{short(object)} (#{object.detail})" : short(object)
      end

      # A row's name: address, object and where it was allocated; of a class or module without that where it is defined.
      # prefix: what stands before the object; indent: steps to the right; way: who has it.
      def label(object, prefix: nil, indent: 0, way: nil)
        words = ("  " * [indent, DEEPEST].min) + [prefix, long(object), way && "← #{way}"].compact.join("  ")
        Table::Label.new(text: "#{object.address_text.to_s.ljust(ADDRESS)}  #{words}",
                         place: object.location || (object.definition if object.module?))
      end

      # For JSON and CSV.
      def data(object)
        return { root: object.class_name } if object.root?

        { address: object.address_text, type: object.type, class: object.class_name, name: object.name,
          detail: object.detail, bytes: object.bytes, slot_bytes: object.slot_bytes, length: object.length,
          value: @values ? object.value : nil, path: object.file, lineno: object.line, label: object.label,
          generation: object.generation, defined_path: object.defined_file, defined_lineno: object.defined_line }
      end

      # A value in quotes, as long as there is room.
      def quoted(value, cut: false)
        text = value[0, LONGEST]
        "\"#{text}#{"…" if cut || text.length < value.length}\""
      end

      # "1 element", "12 elements".
      def count(number, what)
        "#{Units.count(number)} #{number == 1 ? what.delete_suffix("s") : what}"
      end

      private

      # Does a T_DATA's name in C say more than its class? "allocation_info_tracer" does, of an Object; "VM/thread" of
      # a Thread does not.
      def tells?(object)
        object.type == "DATA" && object.detail && !object.class_name.include?("DATA") &&
          object.detail[%r{[^/]*\z}].casecmp?(object.class_name[/\w*\z/]) == false
      end

      def root(object)
        meaning = ROOTS[object.class_name]
        meaning ? "#{short(object)} (#{meaning})" : short(object)
      end

      def module_name(object)
        return "(singleton)" if object.singleton

        object.name || "#<#{object.class_name}:#{object.address_text}>"
      end

      # Names that begin with a sign are of the dump itself: "#<Class:0x…>", "(hidden ARRAY)".
      def instance(name)
        name.start_with?("#", "(") ? name : "#<#{name}>"
      end

      def valued(object)
        return object.class_name unless @values && object.value
        return "#{object.class_name} #{quoted(object.value, cut: object.cut?)}" if object.type == "STRING"

        object.type == "SYMBOL" ? ":#{object.value[0, LONGEST]}" : object.value
      end
    end
  end
end
