# frozen_string_literal: true

require "stringio"
require "test_helper"
require "support/readers"
require "support/object_snapshots"
require "heapline/accounting/pprof"

module Heapline
  module Accounting
    class PprofTest < Minitest::Test
      include ObjectSnapshots
      include Readers

      def written(snapshot, name = "run.pb.gz")
        kept(rendered(Pprof, snapshot), name)
      end

      # { function => flat bytes } of `-top`.
      def top(*arguments)
        lines = pprof("-top", "-unit=B", "-nodefraction=0", *arguments).lines
        lines.grep(/%\s+-?\d+B?\s+[\d.]+%\s/).to_h { |line| [line.split(nil, 6).last.chomp, line.to_i] }
      end

      def test_the_library_is_the_leaf_and_the_ruby_line_its_caller
        assert_equal({ "Object#leak_memory" => 51_200_000, "libxml2.so.2" => 1_020_000, "Cache#put" => 0 },
                     top(written(leaky)))
      end

      def test_sample_types_in_the_order_of_gos_heap_profile
        raw = pprof("-raw", written(leaky))
        assert_includes raw, "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes[dflt]"
        assert_match(/^ +100000 +102400000 +50000 +51200000: \d+ *$/, raw)
        assert_match(/^ +91004 +1600000 +8211 +1020000: \d+ \d+ *$/, raw)
        assert_match(%r{Object#leak_memory /app/leak.rb:12 }, raw)
        assert_equal 102_400_000, top("-sample_index=alloc_space", written(leaky))["Object#leak_memory"]
      end

      def test_times_and_comments
        raw = pprof("-raw", written(leaky))
        assert_match(/^Time: 2027-01-15 08:00:12.3 \+0000 UTC\nDuration: 12.3\b/, raw)
        assert_match(/^Comment: command: ruby leak.rb$/, raw)
      end

      def test_the_difference_of_two
        later = snapshot(site("/app/leak.rb", 12, label: "Object#leak_memory", live_bytes: 51_201_000))
        base = written(snapshot(leaky.sites.first), "base.pb.gz")
        assert_equal({ "Object#leak_memory" => 1000 }, top("-base", base, written(later)))
      end

      def test_what_shrank_is_negative
        assert_equal({ "a" => -5 }, top(written(snapshot(site("a.rb", 1, label: "a", live_bytes: -5)))))
      end

      def test_labels_for_the_tag_the_gem_and_the_kind
        file = written(snapshot(site("/g/gems/rack-3.0/a.rb", 1, label: "a", tag: "orders#show", live_bytes: 7),
                                site("/app/b.rb", 1, label: "b", live_bytes: 8)))
        assert_equal({ "a" => 7 }, top("-tagfocus=tag=orders#show", file))
        assert_equal({ "a" => 7 }, top("-tagfocus=gem=rack", file))
        assert_equal({ "a" => 7, "b" => 8 }, top("-tagfocus=kind=ruby", file))
      end

      def test_native_code_and_special_sites
        native = Places::Location.new(library: "libz.so.1", library_path: "/lib/libz.so.1", offset: 0x1f30,
                                      symbol: "deflate", label: "deflate+0x12")
        other = Places::Location.new(special: "(other)")
        sites = [native, other].map do |place|
          Site.new(location: place, kind: :native, **Site::ZERO, live_bytes: 3)
        end
        file = written(snapshot(*sites))
        assert_equal({ "deflate+0x12" => 3, "(other)" => 3 }, top(file))
        assert_match(/ 0x1f30 M=1 deflate\+0x12 /, pprof("-raw", file))
      end

      def test_labels_that_look_like_c_plus_plus_are_left_alone
        names = ["<class:Cache>", "Store::Cache#put", "block (2 levels) in <top (required)>", "operator()(int)"]
        sites = names.each_with_index.map { |name, i| site("/app/a.rb", i, label: name, live_bytes: 1) }
        assert_equal names.sort, top(written(snapshot(*sites))).keys.sort
      end

      def test_hostile_names_are_inert
        raw = pprof("-raw", written(hostile))
        assert raw.valid_encoding?
        refute_match(/[\p{C}&&[^\n]]/, raw)
        HOSTILE.each_index { |i| assert_match(/^ +1 +#{1000 + i} +1 +#{1000 + i}: /, raw) }
        assert_match(/new\\x0Aline.rb new\\x0Aline.rb:1 /, raw)
      end

      def test_equal_snapshots_give_equal_bytes
        assert_equal rendered(Pprof, leaky), rendered(Pprof, leaky)
      end

      def test_top
        assert_equal ["Object#leak_memory"], top(kept(rendered(Pprof, leaky, top: 1), "one.pb.gz")).keys
      end

      def test_ruby_objects_are_samples_with_a_class
        file = written(leaky_objects)
        assert_equal({ "Object#leak_memory" => 4_000_000, "Cache#put" => 328_440, "Cache#each" => 400 },
                     top("-tagfocus=kind=object", file))
        assert_equal({ "Object#leak_memory" => 2_000_000 }, top("-tagfocus=class=^Shop::Order$", file))
        assert_equal top(written(leaky, "malloc.pb.gz")), top("-tagignore=kind=object", file)
        assert_match(/^ +50000 +2000000 +50000 +2000000: \d+ *\n +class:\[Shop::Order\] kind:\[object\]/,
                     pprof("-raw", file))
      end
    end

    # The expected bytes are those of protobuf's own page on encoding, and what follows from it by hand.
    class ProtobufTest < Minitest::Test
      def assert_bytes(expected, message)
        assert_equal expected, message.bytes.unpack("C*")
      end

      def test_integers
        assert_bytes [0x08, 0x96, 0x01], Protobuf.new.integer(1, 150)
        assert_bytes [0x08, *[0xff] * 9, 0x01], Protobuf.new.integer(1, -1)
        assert_bytes [0x78, 0x01, 0x80, 0x01, 0x01], Protobuf.new.integer(15, 1).integer(16, 1)
        assert_bytes [], Protobuf.new.integer(1, 0)
      end

      def test_strings_and_messages
        assert_bytes [0x12, 0x07, *"testing".bytes], Protobuf.new.message(2, "testing")
        assert_bytes [0x1a, 0x03, 0x08, 0x96, 0x01], Protobuf.new.message(3, Protobuf.new.integer(1, 150).bytes)
        assert_bytes [0x12, 0x00], Protobuf.new.message(2, "")
        assert_bytes [0x12, 0x02, 0xc3, 0xa9], Protobuf.new.message(2, "é")
      end

      def test_packed_integers
        assert_bytes [0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05], Protobuf.new.integers(6, [3, 270, 86_942])
      end
    end
  end
end
