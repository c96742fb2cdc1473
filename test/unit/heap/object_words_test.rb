# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/heap/object_words"

module Heapline
  module Heap
    class ObjectWordsTest < Minitest::Test
      def object(type, class_name, **fields)
        Object.new(type: type, class_name: class_name, address: 0x7f00, **fields)
      end

      def short(...)
        ObjectWords.new.short(object(...))
      end

      def long(...)
        ObjectWords.new.long(object(...))
      end

      def test_as_it_stands_in_a_path
        assert_equal "#<Cart>", short("OBJECT", "Cart")
        assert_equal "#<Thread>", short("DATA", "Thread")
        assert_equal "Array", short("ARRAY", "Array")
        assert_equal "Cart", short("CLASS", "Class", name: "Cart")
        assert_equal "#<Class:0x7f00>", short("CLASS", "Class")
        assert_equal "class (singleton)", long("CLASS", "Class", singleton: true)
        assert_equal "String \"text\"", short("STRING", "String", value: "text", length: 4)
        assert_equal ":name", short("SYMBOL", "Symbol", value: "name", length: 4)
        assert_equal "1.5", short("FLOAT", "Float", value: "1.5")
        assert_equal "(IMEMO iseq)", short("IMEMO", "(IMEMO iseq)")
        assert_equal "#<#<Class:0x10>>".delete_prefix("#<").delete_suffix(">"), short("OBJECT", "#<Class:0x10>")
        assert_equal "root vm", ObjectWords.new.short(Object.new(type: "ROOT", class_name: "vm"))
      end

      def test_with_how_much_is_in_it
        assert_equal "Array of 1 element", long("ARRAY", "Array", length: 1)
        assert_equal "Hash of 1,024 pairs", long("HASH", "Hash", length: 1024)
        assert_equal "class Cart", long("CLASS", "Class", name: "Cart")
        assert_equal "module Util", long("MODULE", "Module", name: "Util")
        assert_equal "root end_proc (at_exit blocks)",
                     ObjectWords.new.long(Object.new(type: "ROOT", class_name: "end_proc"))
      end

      def test_the_name_in_c_where_it_says_more
        assert_equal "#<Thread>", long("DATA", "Thread", detail: "VM/thread")
        assert_equal "#<Object> (ObjectTracing/allocation_info_tracer)",
                     long("DATA", "Object", detail: "ObjectTracing/allocation_info_tracer")
        assert_equal "(hidden DATA VM/cc_table)", long("DATA", "(hidden DATA VM/cc_table)", detail: "VM/cc_table")
      end

      def test_values_are_cut_and_can_be_hidden
        assert_equal "String \"#{"x" * 40}…\"", short("STRING", "String", value: "x" * 99, length: 99)
        assert_equal "String \"abc…\"", short("STRING", "String", value: "abc", length: 5000)
        assert_equal "String", ObjectWords.new(values: false).short(object("STRING", "String", value: "secret"))
        assert_nil ObjectWords.new(values: false).data(object("STRING", "String", value: "secret"))[:value]
      end

      def test_a_row_begins_with_the_address
        label = ObjectWords.new.label(object("ARRAY", "Array", file: "a.rb", line: 3), prefix: "@all", indent: 1)
        assert_equal ["0x7f00            @all  Array", "a.rb:3"], label.to_h.values_at(:text, :place)
      end

      # That of a class is where its objects are from; an object's own row says where it is from, or nothing.
      def test_where_a_class_is_defined
        fields = { defined_file: "a.rb", defined_line: 3 }
        places = [object("CLASS", "Class", name: "Session", **fields), object("OBJECT", "Session", **fields),
                  object("CLASS", "Class", name: "Session", file: "b.rb", line: 9, **fields)]
        assert_equal(["a.rb:3", nil, "b.rb:9"], places.map { |one| ObjectWords.new.label(one).place })
        assert_equal ["a.rb", 3], ObjectWords.new.data(places[1]).values_at(:defined_path, :defined_lineno)
      end

      def test_data_of_a_root
        assert_equal({ root: "vm" }, ObjectWords.new.data(Object.new(type: "ROOT", class_name: "vm")))
      end
    end
  end
end
