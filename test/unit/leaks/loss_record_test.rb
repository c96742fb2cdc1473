# frozen_string_literal: true

require "test_helper"
require "heapline/places/location"
require "support/leak_reports"
require "heapline/leaks/loss_record"

module Heapline
  module Leaks
    class LossRecordTest < Minitest::Test
      def holder(kind, between: 0, **more)
        Holder.new(kind: kind, between: between, address: 0x7f00, **more).to_s
      end

      def test_each_kind_is_said
        assert_equal "a register of thread 12", holder(:register, thread: 12)
        assert_equal "the stack of thread 12", holder(:thread, thread: 12, path: "[stack]")
        assert_equal "stack or thread-local storage of thread 12", holder(:thread, thread: 12)
        assert_equal "the stack of a fiber", holder(:fiber)
        assert_equal "the Ruby object at 0x7f00", holder(:object)
        assert_equal "data of parser.so+0x4010", holder(:data, path: "/x/parser.so", offset: 0x4010)
        assert_equal "the dynamic linker", holder(:linker)
        assert_equal "mapped memory at 0x7f00", holder(:mapping)
        assert_equal "mapped memory [anon:arena] at 0x7f00", holder(:mapping, path: "[anon:arena]")
      end

      def test_a_stack_of_rubys_has_a_line
        line = Places::Location.new(path: "app.rb", lineno: 12)
        assert_equal "the stack of a fiber at app.rb:12", holder(:fiber, location: line)
        assert_equal "the stack of thread 7 at app.rb:12, through 1 block",
                     holder(:thread, thread: 7, location: line, between: 1)
        assert_equal "the stack of a thread at app.rb:12", holder(:thread, location: line)
      end

      def test_the_way_to_it
        assert_equal "the dynamic linker, through 1 block", holder(:linker, between: 1)
        assert_equal "the dynamic linker, through 7 blocks", holder(:linker, between: 7)
        assert_predicate Holder.new(kind: :linker, between: 0), :frozen?
      end

      def test_what_is_lost
        assert LeakReports.record.lost?
        assert LeakReports.record(kind: :indirect).lost?
        refute LeakReports.record(kind: :possible).lost?
        refute LeakReports.record(kind: :reachable).lost?
      end

      def test_the_culprit_is_the_first_that_is_not_the_systems
        libc = LeakReports.frame(function: "strdup", path: "/lib/libc.so.6")
        machine = LeakReports.frame(function: "xmalloc", path: "/lib/libruby-3.1.so.3.1")
        own = LeakReports.frame(function: "parse")
        assert_same own, LeakReports.record(frames: [libc, machine, own, machine]).culprit
        assert_same libc, LeakReports.record(frames: [libc, machine]).culprit
        assert_nil LeakReports.record(frames: []).culprit
      end

      def test_the_culprit_is_no_part_of_a_standard_library
        inner, outer = %w[alloc::alloc::alloc alloc::vec::Vec<T>::push].map { |name| LeakReports.frame(function: name) }
        own = LeakReports.frame(function: "app::load")
        assert_same own, LeakReports.record(frames: [inner, outer, own]).culprit
        assert_same inner, LeakReports.record(frames: [inner, outer]).culprit
      end

      def test_label_and_library_are_the_locations
        assert_equal ["App#go", "libfoo.so"], [LeakReports.record.label, LeakReports.record.library]
        assert LeakReports.record.frozen?
      end
    end
  end
end
