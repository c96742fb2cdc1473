# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"
require "heapline/leaks/rules"
require "heapline/leaks/suppressions"

module Heapline
  module Leaks
    class RulesTest < Minitest::Test
      include LeakReports

      VM = "/lib/libruby.so.3.4"

      def vm(function)
        frame(function: function, path: VM)
      end

      def libc(function)
        frame(function: function, path: "/lib/libc.so.6")
      end

      def reason(*frames, **options)
        Rules.new(**options).reason(record(frames: frames), VM)
      end

      def test_an_extensions_are_kept
        assert_nil reason(frame, vm("rb_vm_exec"))
        assert_nil reason(vm("ruby_xmalloc"), frame, vm("rb_vm_exec"))
        assert_nil reason(libc("strdup"), frame)
        assert_nil reason(frame(path: "/gems/foo.so"), vm("x"))
      end

      def test_the_vms_and_the_systems_own_are_not
        assert_equal Rules::VM, reason(vm("a"), vm("b"))
        assert_equal Rules::VM, reason(libc("tzset"), vm("b"), frame(path: nil))
        assert_nil reason(vm("a"), all: true)
      end

      def test_only_the_library_asked_for
        assert_nil reason(frame, library: /foo/)
        assert_equal Rules::OTHER, reason(frame, library: /bar/)
        assert_nil reason(frame, frame(path: "/x/bar.so"), library: /bar/)
      end

      def test_ruby_code_that_the_extension_called
        assert_equal Rules::CALLED, reason(vm("ruby_xmalloc"), vm("rb_funcallv"), frame, vm("x"))
        assert_nil reason(vm("ruby_xmalloc"), vm("rb_protect"), frame)
        assert_nil reason(frame, vm("rb_funcallv"))
      end

      def test_init_functions
        assert_equal Rules::INIT_ONCE, reason(frame, frame(function: "Init_foo"), vm("dln_load"))
        assert_nil reason(frame, vm("Init_String"))
      end

      def test_suppressions_come_first
        suppressions = Suppressions.new(Suppressions.parse("leak:foo.c", "f"))
        assert_equal "suppressed by leak:foo.c", reason(frame, suppressions: suppressions, all: true)
      end

      def test_libraries_alone_may_settle_it
        rules = Rules.new
        assert rules.foreign?([VM, nil, "/lib/libc.so.6", "/usr/bin/ruby3.1"], VM)
        refute rules.foreign?([VM, "/x/foo.so"], VM)
        refute Rules.new(all: true).foreign?([VM], VM)
      end
    end
  end
end
