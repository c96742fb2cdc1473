# frozen_string_literal: true

require_relative "../frozen"

module Heapline
  module Heap
    # One object of a dump, or one root. Unknown is nil.
    #
    # address::     Integer; nil: a root
    # type::        "STRING", "OBJECT", "DATA" …, "ROOT"
    # class_name::  "String", "#<Class:0x…>", as Group#key has it; of a root its name: "vm", "machine_context" …
    # detail::      "iseq", "ment" … of an IMEMO, "proc", "thread" … of a DATA, the encoding of a STRING
    # name::        of a class or module its own name
    # bytes::       memsize; slot_bytes:: of these the slot alone
    # file, line, label, generation::  where and when it was allocated, in a dump with tracing
    # value::       of a string, symbol or float its first characters (String, valid UTF-8)
    # length::      bytes of a string, elements of an array or hash, instance variables of an object
    # embedded, shared, frozen, interned, singleton::  true or false
    # defined_file, defined_line::  of a class or module where it is defined, of others where their class is; known in
    #               dumps by heapline
    # rubocop:disable Lint/StructNewOverride -- the length is the object's own
    Object = Struct.new(:address, :type, :class_name, :detail, :name, :bytes, :slot_bytes, :file, :line, :label,
                        :generation, :value, :length, :embedded, :shared, :frozen, :interned, :singleton,
                        :defined_file, :defined_line, keyword_init: true) do
      include Frozen

      def root?
        address.nil?
      end

      # "0x7f6cbf7a4080"; nil of a root.
      def address_text
        address && format("0x%x", address)
      end

      # "app.rb:12"; nil where the dump has no tracing.
      def location
        file && "#{file}:#{line}"
      end

      def module?
        %w[CLASS MODULE].include?(type)
      end

      # "app.rb:3"; nil where the dump does not tell.
      def definition
        defined_file && "#{defined_file}:#{defined_line}"
      end

      # Is `value` only the beginning?
      def cut?
        !value.nil? && %w[STRING SYMBOL].include?(type) && value.bytesize < length.to_i
      end
    end
    # rubocop:enable Lint/StructNewOverride

    # An edge from one object to another.
    #
    # object::  the Object at its other end; a referrer may be a root (Object#root?)
    # name::    what leads from one to the other: "@cache", "CONSTANT", "$global", "[key]", "class", "superclass" …;
    #           nil where the dump does not tell
    Reference = Struct.new(:object, :name, keyword_init: true) { include Frozen }
  end
end
