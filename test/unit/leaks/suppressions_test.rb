# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"
require "heapline/leaks/suppressions"

module Heapline
  module Leaks
    class SuppressionsTest < Minitest::Test
      include LeakReports

      def hides?(text, record = self.record)
        !Suppressions.new(Suppressions.parse(text, "file.supp")).of(record).nil?
      end

      def stack
        record(frames: [frame(function: "xmlStrdup", path: "/lib/libxml2.so.2", file: nil), frame(function: "parse"),
                        frame(function: "rb_vm_exec", path: "/lib/libruby.so", file: nil)])
      end

      def test_leak_matches_functions_files_and_libraries
        assert hides?("# a comment\n\nleak:leak\n")
        assert hides?("leak:foo.c")
        assert hides?("leak:libfoo")
        assert hides?("leak:^le*k$")
        refute hides?("leak:^eak")
        refute hides?("leak:other")
        refute hides?("race:leak")
      end

      def test_valgrinds_frames_begin_at_the_innermost
        assert hides?(valgrind("fun:xmlStrdup"), stack)
        assert hides?(valgrind("fun:malloc", "fun:xmlStr*", "fun:p?rse"), stack)
        assert hides?(valgrind("obj:*/libxml2.so*", "src:foo.c:12"), stack)
        refute hides?(valgrind("fun:parse"), stack)
        refute hides?(valgrind("fun:xmlStrdup", "fun:rb_vm_exec"), stack)
      end

      def test_dots_stand_for_any_number_of_frames
        assert hides?(valgrind("...", "fun:parse"), stack)
        assert hides?(valgrind("fun:xmlStrdup", "...", "obj:*libruby*"), stack)
        assert hides?(valgrind("...", "fun:xmlStrdup"), stack)
        refute hides?(valgrind("...", "fun:none", "..."), stack)
      end

      def test_kinds
        assert hides?(valgrind("match-leak-kinds: definite,possible", "fun:xmlStrdup"), stack)
        refute hides?(valgrind("match-leak-kinds: reachable", "fun:xmlStrdup"), stack)
        assert hides?(valgrind("match-leak-kinds: all", "fun:xmlStrdup"), stack)
      end

      def test_other_errors_are_passed_over
        refute hides?("{\nname\nMemcheck:Cond\nfun:xmlStrdup\n}\n", stack)
      end

      def test_what_is_not_understood_is_named_with_its_line
        error = assert_raises(Error) { hides?("leak:a\nhide this\n") }
        assert_equal 'file.supp:2: not understood: "hide this"; write leak:PATTERN', error.message
        assert_match(/file.supp:1: this suppression has no end/, assert_raises(Error) { hides?("{\nname\n") }.message)
        error = assert_raises(Error) { hides?(valgrind("oops:x")) }
        assert_match(/not understood in a suppression: "oops:x"/, error.message)
      end

      def test_a_file_that_is_missing
        assert_match(/cannot be opened/, assert_raises(Error) { Suppressions.read(["/no/such/file"]) }.message)
      end

      def test_the_shipped_list_can_be_read
        assert Suppressions.read([Suppressions::SHIPPED])
      end

      def valgrind(*lines)
        ["{", "a name", "Memcheck:Leak", *lines, "}"].join("\n")
      end
    end
  end
end
