# frozen_string_literal: true

require "test_helper"
require "json"
require "support/leak_reports"
require "heapline/leaks/reader"
require "heapline/leaks/suppressions"

module Heapline
  module Leaks
    class ReaderTest < Minitest::Test
      include LeakReports

      def read(text = raw, **rules)
        symbols = LeakReports::Names.new("/x/libfoo.so" => { 0xff => "leak" })
        Reader.new(rules: Rules.new(**rules), symbols: symbols).read(text, "report")
      end

      # The parent's loss counts once, where the parent was searched.
      def test_what_a_forked_child_inherited
        reader = Reader.new(rules: Rules.new, symbols: LeakReports::Names.new)
        inherited = raw(pid: 43, parent: 42, records: [raw_record.merge(inherited: 1), raw_record.merge(inherited: 0)])
        assert_equal [42, 43], reader.read_all([[raw, "parent"], [inherited, "child"]]).map(&:pid)
        assert_equal [43, 43], reader.read_all([[inherited, "child"]]).map(&:pid)
        assert_equal [43, 43], reader.read(inherited, "child").map(&:pid)
      end

      def test_a_record_has_its_place_and_its_stack
        record = read.first
        assert_equal [:definite, 1, 10, "/a/app.rb:3", "App#go", "libfoo.so", 42],
                     [record.kind, record.blocks, record.bytes, record.location.to_s, record.label, record.library,
                      record.pid]
        assert_equal ["leak", "libruby.so+0xff"], record.frames.map(&:name)
        assert_equal "foo.c:12", record.frames.first.place
      end

      def test_a_record_has_its_stack_of_ruby
        frames = read.first.ruby_frames
        assert_equal ["/a/app.rb:3", "(unknown)"], frames.map(&:to_s)
        assert_equal ["App#go", nil], frames.map(&:label)
      end

      # The core has one site for them, which is called as the first of them that asked.
      def test_methods_that_share_a_line_are_told_apart
        of = ->(label) { raw_record.merge(ruby_frames: [{ path: "/a/app.rb", line: 3, label: label }]) }
        text = raw(records: [of["App#go"], of["App#stop"], raw_record.merge(ruby_frames: [])])
        assert_equal %w[App#go App#stop App#go], read(text).map(&:label)
      end

      def test_what_is_the_vms_is_summed
        leaks = read(raw(records: [raw_record, raw_record(frames: [0x20100]), raw_record(frames: [0x20200])]))
        assert_equal 1, leaks.count
        assert_equal({ Rules::VM => [2, 2, 20] }, leaks.dropped)
        all = raw(records: [raw_record, raw_record(frames: [0x20100]), raw_record(frames: [])])
        assert_equal 3, read(all, all: true).count
      end

      # Here a suppression hides the first record alone.
      def test_what_only_suppressed_blocks_lead_to
        suppressions = Suppressions.new(Suppressions.parse("{\nknown\nMemcheck:Leak\nmatch-leak-kinds: definite\n" \
                                                           "fun:leak\n}", "f"))
        led = raw_record(frames: [0x10200], kind: "indirect")
        leading = ->(blocks, **more) { raw_record(**more).merge(led_blocks: blocks) }
        hidden = ->(*records) { read(raw(records: records), suppressions: suppressions).dropped.keys }
        known = "suppressed by known"
        assert_equal [known, Rules::LED], hidden[leading[1], led]
        assert_equal [known], hidden[leading[0], led]
        assert_equal [known], hidden[leading[1], leading[1, frames: [0x10300]], led]
        assert_equal [known, Rules::VM].sort, hidden[leading[1], leading[1, frames: [0x20100]], led].sort
      end

      def test_figures_of_the_search
        search = read.searches.first
        assert_equal [42, 0.001, 0.002, 0.003, [1, 10]],
                     [search.pid, search.pause, search.gc, search.scan, search.totals[:definite]]
      end

      def test_what_holds_a_block
        held = { kind: "data", between: 2, address: 0x5000, thread: 0, path: "/x/libfoo.so", offset: 0x40 }
        record = read(raw(records: [raw_record(kind: "possible").merge(held_by: held)])).first
        assert_equal "data of libfoo.so+0x40, through 2 blocks", record.held_by.to_s
        held = { kind: "register", between: 0, address: 0x5000, thread: 7, path: "", offset: 0 }
        record = read(raw(records: [raw_record(kind: "possible").merge(held_by: held)])).first
        assert_equal "a register of thread 7", record.held_by.to_s
        assert_nil read.first.held_by
      end

      def test_sites_without_a_place
        text = raw(records: [raw_record.merge(site: { number: 1 })])
        assert_equal "(other)", read(text).first.location.to_s
        text = raw(records: [raw_record.merge(site: { number: 1, label: "(YJIT)" })])
        assert_equal "(YJIT)", read(text).first.location.to_s
      end

      def test_what_is_no_report
        { "" => /report is damaged or no JSON/, "{" => /report is damaged/, "[]" => /report is no report of a search/,
          "{}" => /report is no report of a search/,
          '{"heapline_leaks":2}' => /report is of version 2, and this heapline reads version 1: take a newer one/,
          '{"heapline_leaks":1}' => /report: libraries is no list/ }.each do |text, message|
          assert_match(message, assert_raises(InputError) { read(text) }.message)
        end
      end

      def test_names_that_are_no_utf8
        text = raw(records: [raw_record(label: "LABEL")]).sub("LABEL", "\xff\xfe".b)
        assert read(text).first.label.valid_encoding?
      end
    end
  end
end
