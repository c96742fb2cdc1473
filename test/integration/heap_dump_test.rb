# frozen_string_literal: true

require "test_helper"
require "heapline/heap_dump"
require "json"
require "open3"

module Heapline
  # Real dumps of this Ruby, with planted truth, beside what JSON.parse says of them.
  class HeapDumpIntegrationTest < Minitest::Test
    # Prints what is true of itself as JSON. The holder keeps 1,000 of its own strings, and what it retains can be added
    # up; each dump comes right after a full GC.
    PROGRAM = <<~'RUBY'
      require "objspace"
      require "json"
      ObjectSpace.trace_object_allocations_start
      class Holder
        def initialize(count)
          @kept = Array.new(count) { |i| "kept #{i}" + "." * 200 }
        end
        attr_reader :kept
      end
      class Bag
      end
      HOLDER = Holder.new(1000)
      PLAIN = Class.new.new
      def (SINGLE = Bag.new).special; end
      def dump(path)
        GC.start
        ObjectSpace.dump_all(output: File.open(path, "w")).close
      end
      # In threads of their own, so that no stack still holds what is to be freed.
      def keep(name, count)
        Thread.new { STORE[name] = Array.new(count) { Bag.new } }.join
      end
      def pass(name, count)
        Thread.new { STORE[name] = Array.new(count) { Bag.new } }.join
      end
      STORE = {}
      dump(ARGV[0])
      keep(:leak, 50)
      pass(:passing, 70)
      dump(ARGV[1])
      STORE.delete(:passing)
      keep(:later, 20)
      dump(ARGV[2])
      line = ->(name) { "-e:#{method(name).source_location[1] + 1}" }
      retained = [HOLDER, HOLDER.kept, *HOLDER.kept].sum { |one| ObjectSpace.memsize_of(one) }
      addresses = [HOLDER, HOLDER.kept, HOLDER.kept[7]].map { |one| ObjectSpace.dump(one)[/"address":"(0x\h+)"/, 1].hex }
      print JSON.generate("retained" => retained, "addresses" => addresses, "anonymous" => PLAIN.class.inspect,
                          "keep" => line[:keep], "pass" => line[:pass])
    RUBY

    class << self
      # The dumps are made once for all tests: [directory, what the program said].
      def made
        @made ||= begin
          directory = Dir.mktmpdir("heapline-test")
          Minitest.after_run { FileUtils.rm_rf(directory) }
          paths = %w[a b c].map { |name| File.join(directory, "#{name}.json") }
          output, status = Open3.capture2(RbConfig.ruby, "-e", PROGRAM, *paths)
          raise "the program failed" unless status.success?

          [paths, JSON.parse(output)]
        end
      end
    end

    def paths
      self.class.made.first
    end

    def truth
      self.class.made.last
    end

    def index
      HeapDump.open(paths.last, index: true)
    end

    # What a few lines of Ruby make of the same file.
    def objects
      @objects ||= File.readlines(paths.last).map { |line| JSON.parse(line) }
                       .reject { |line| %w[ROOT SHAPE NONE].include?(line["type"]) }
    end

    def sums(&group)
      objects.group_by(&group).map { |name, ones| [name, ones.size, ones.sum { |one| one["memsize"] }] }.sort_by(&:to_s)
    end

    def rows(groups)
      groups.map { |group| [group.key, group.count, group.bytes] }.sort_by(&:to_s)
    end

    def test_every_line_is_read
      dump = HeapDump.open(paths.last)
      assert_empty dump.problems
      assert_equal objects.size, dump.summary.objects
      assert_equal objects.sum { |one| one["memsize"] }, dump.summary.bytes
      assert_equal objects.sum { |one| one["slot_size"] || 40 }, dump.summary.slot_bytes
      assert_equal objects.count { |one| one["type"] == "STRING" }, dump.summary.strings.sum(&:count)
      assert_operator dump.summary.roots.fetch("vm"), :>, 0
    end

    def test_histograms_are_what_json_says
      dump = HeapDump.open(paths.last)
      assert_equal sums { |one| one["type"] }, rows(dump.histogram(by: :type))
      lines = sums { |one| one["file"] ? "#{one["file"]}:#{one["line"]}" : "(not traced)" }
      assert_equal lines, rows(dump.histogram(by: :line))
      generations = sums { |one| one["generation"] || "(not traced)" }
      assert_equal generations, rows(dump.histogram(by: :generation))
    end

    def test_classes
      groups = HeapDump.open(paths.last).histogram.to_h { |group| [group.key, group] }
      assert_equal [1, 71], groups.values_at("Holder", "Bag").map(&:count)
      assert_equal 1, groups.fetch(truth["anonymous"]).count
      assert_operator groups["String"].count, :>, 1000
      assert_operator groups["Class"].count, :>, 300
      assert_operator groups["(IMEMO iseq)"].count, :>, 10
      refute(groups.keys.any? { |key| key.start_with?("(unknown") }, groups.keys.inspect)
    end

    def test_objects_and_what_they_retain
      dump = index
      holder, kept, string = truth["addresses"].map { |address| dump.object(address) }
      assert_equal %w[OBJECT Holder ARRAY Array STRING String],
                   ([holder, kept, string].flat_map { |one| [one.type, one.class_name] })
      assert_equal [1000, "kept 7#{"." * 94}", 206], [kept.length, string.value, string.length]
      assert_match(/\A-e:\d+\z/, string.location)
      retained = dump.dominators.retained(holder.address)
      assert_equal [1002, truth["retained"]], [retained.retained_objects, retained.retained_bytes]
      assert_equal kept.address, dump.dominators.parent(string.address).object.address
      assert_equal [holder.address], dump.instances_of("Holder")
    end

    def test_the_path_leads_from_a_root_along_references
      dump = index
      string = truth["addresses"].last
      steps = dump.path(string)
      assert_predicate steps.first.object, :root?
      assert_equal(truth["addresses"], steps.last(3).map { |step| step.object.address })
      steps.drop(1).each_cons(2) do |from, to|
        targets = dump.references(from.object.address, limit: 100_000).map { |reference| reference.object.address }
        assert_includes targets, to.object.address
      end
      assert_includes dump.referrers(string).map { |reference| reference.object.address }, truth["addresses"][1]
    end

    # What is left is what the machine's stack or registers held on to when the dump was made, and no more.
    def test_after_a_gc_all_can_be_reached
      tree = index.dominators
      assert_operator tree.unreachable.count, :<, objects.size / 100
      assert_equal objects.size, tree.reachable.count + tree.unreachable.count
    end

    def test_three_dumps_find_what_was_born_between_two_and_stayed
      comparison = HeapDump.compare(*paths)
      assert_predicate comparison, :same_process?
      bag = comparison.changes.find { |change| change.key == "Bag" }
      assert_equal [1, 121, 71], [bag.before_count, bag.after_count, bag.last_count]
      assert_equal [120, 0, 50], [bag.born_count, bag.gone_count, bag.kept_count]
      lines = HeapDump.compare(*paths, by: :line).changes.to_h { |change| [change.key, change.kept_count] }
      # At these lines there are also a thread, an array, a proc …
      assert_includes 50...70, lines[truth["keep"]]
      assert_operator lines[truth["pass"]], :<, 20
    end

    def test_two_processes_are_no_one
      output, status = Open3.capture2(RbConfig.ruby, "-robjspace", "-e", "ObjectSpace.dump_all(output: $stdout)")
      assert_predicate status, :success?
      other = File.join(File.dirname(paths.first), "other.json")
      File.binwrite(other, output)
      comparison = HeapDump.compare(paths.first, other)
      refute_predicate comparison, :same_process?
      assert_nil comparison.changes.first.born_count
    end
  end
end
