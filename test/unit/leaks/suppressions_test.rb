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

      # Each is a slip of the pen that would hide nothing, or all.
      WRONG = { "leak:" => "1: there is no pattern", "\n  leak:^$" => "2: there is no pattern",
                "{\nx\nMemcheck:Leak\n}" => "1: no frame of a caller of malloc",
                "{\nx\nMemcheck:Leak\nfun:malloc\n}" => "1: no frame of a caller of malloc",
                "{\nx\nMemcheck:Leak\nmatch-leak-kinds: definite, posible\nfun:f\n}" =>
                  "4: no such kind: posible; there are definite, indirect, possible, reachable, all and none",
                "{\nx\nMemcheck:Leek\nfun:f\n}" => '3: not understood: "Memcheck:Leek"',
                "{\nx\nMemchek:Leak\nfun:f\n}" => '3: not understood: "Memchek:Leak"',
                "{\nx\n}" => '1: not understood: "{"' }.freeze

      def test_what_would_hide_nothing_or_all_is_refused
        WRONG.each do |text, message|
          error = assert_raises(Error, text) { hides?(text) }
          assert_operator error.message, :start_with?, "file.supp:#{message}"
        end
      end

      def test_a_byte_order_mark
        assert hides?("\uFEFFleak:foo.c")
      end

      # As Valgrind writes them: functions of C++ as the linker calls them, and of libc as they are exported.
      def test_all_names_of_a_function
        skip "no g++" unless system("g++ --version", out: File::NULL, err: File::NULL)
        Dir.mktmpdir do |directory|
          path = library(directory)
          lost = record(frames: [at(path, "_Z4copyPKc", function: "copy(char const*)")])
          ["copy(char const*)", "_Z4copyPKc", "_Z*", "other_name"].each do |name|
            assert hides?(valgrind("fun:#{name}"), lost)
          end
          assert hides?("leak:^other_name$", lost)
          refute hides?(valgrind("fun:_Z5otherv"), lost)
          inlined = record(frames: [at(path, "_Z4copyPKc", function: "inner", inlined: true)])
          refute hides?("leak:^other_name$", inlined)
        end
      end

      def test_those_that_hid_nothing
        text = "leak:other\n#{valgrind("fun:xmlStrdup")}\n#{valgrind("match-leak-kinds: reachable", "...")}"
        suppressions = Suppressions.new(Suppressions.parse(text, "file.supp"))
        suppressions.of(stack)
        assert_equal(%w[file.supp:1 file.supp:7], suppressions.unused.map(&:place))
        assert_empty Suppressions.read([Suppressions::SHIPPED]).unused
      end

      def test_a_file_that_is_missing
        assert_match(/cannot be opened/, assert_raises(Error) { Suppressions.read(["/no/such/file"]) }.message)
      end

      def test_the_shipped_list_can_be_read
        assert Suppressions.read([Suppressions::SHIPPED])
      end

      def library(directory)
        path = File.join(directory, "libnames.so")
        source = "char *copy(const char *) { return 0; }\nvoid other(void) {}\n" \
                 "extern \"C\" char *other_name(const char *) __attribute__((alias(\"_Z4copyPKc\")));"
        IO.popen(["g++", "-x", "c++", "-shared", "-fPIC", "-o", path, "-"], "w") { |io| io.write(source) }
        path
      end

      def at(path, symbol, **more)
        address = IO.popen(["nm", path], &:read)[/^(\h+) . #{symbol}$/, 1].hex
        LeakReports.frame(path: path, file: nil, **more).then do |frame|
          Places::NativeFrame.new(**frame.to_h, offset: address + 1)
        end
      end

      def valgrind(*lines)
        ["{", "a name", "Memcheck:Leak", *lines, "}"].join("\n")
      end
    end
  end
end
