# frozen_string_literal: true

require "test_helper"
require "support/answers"

# The Ruby stack that asked for a block, beside what Ruby's own caller_locations said at that moment.
class RubyStacksTest < Minitest::Test
  include Answers

  # take(size): a block of that size that lives on, and Ruby's stack at its birth. stack(size): the block's, both as
  # [file, line, name], without frames of Ruby's own methods (in C or not they have their caller's line). Names of
  # what is no method, such as "<main>", Rubies have several for.
  TAKE = <<~RUBY
    require "fiddle"
    require "heapline/leaks/reader"
    RAW = ->(since) { Heapline::Leaks::Reader.raw(Heapline::Leaks.search(since, true), "x").data["records"] }
    SAID = {}
    def take(size)
      seen = caller_locations(1)
      SAID[size] = [Fiddle::Pointer.malloc(size), seen]; nil
    end
    METHODS_IN_C = %w[map each times new call eval instance_eval instance_exec public_send send loop each_slice tap
                      define_method yield resume require load select synchronize then class_eval catch fork]
    def said(size)
      SAID[size].last.filter_map do |place|
        name = place.base_label
        next if METHODS_IN_C.include?(name) || place.path.start_with?("<internal")
        [File.basename(place.path), place.lineno, name[/\\A\\w+/]]
      end
    end
    def stack(size, records)
      record = records.find { |each| each["bytes"] == size * each["blocks"] } or return
      frames = record["ruby_frames"].drop_while { |frame| !frame["label"].end_with?("take") }.drop(1)
      frames.map { |frame| [File.basename(frame["path"]), frame["line"], frame["label"][/(?<![<\\w])\\w+\\z/]] }
            .reject { |_file, _line, name| METHODS_IN_C.include?(name) }
    end
    def compare(*sizes)
      records = RAW[0]
      answer(**sizes.to_h { |size| [:"of_\#{size}", stack(size, records) == said(size) || [stack(size, records), said(size)]] })
    end
  RUBY

  def test_methods_blocks_classes_and_evaluated_code
    assert_stacks(<<~RUBY, 30_011, 30_013, 30_017, 30_019, 30_023)
      class Cart
        def self.open = new.fill(2)
        def fill(depth) = depth.zero? ? [1].each { |i| 1.times { take(30_011) } } : fill(depth - 1)
        define_method(:defined) { take(30_013) }
        class_eval "def evaluated\\n take(30_017)\\nend", "evaluated.rb", 100
        class << self
          def in_singleton = tap { take(30_019) }
        end
      end
      Cart.open
      Cart.new.defined
      Cart.new.evaluated
      Cart.in_singleton
      begin; 1; ensure; take(30_023); end
      compare(30_011, 30_013, 30_017, 30_019, 30_023)
    RUBY
  end

  def test_threads_and_fibers_have_stacks_of_their_own
    assert_stacks(<<~RUBY, 30_011, 30_013, 30_017)
      def in_thread = take(30_011)
      def in_fiber(fiber) = fiber.resume
      Thread.new { 1.times { in_thread } }.join
      fiber = Fiber.new do
        take(30_013)
        Fiber.yield
        take(30_017)
      end
      2.times { in_fiber(fiber) }
      compare(30_011, 30_013, 30_017)
    RUBY
  end

  # The same code at other depths, one after the other: what is remembered of the last stack is used.
  def test_stacks_that_share_their_outer_frames
    assert_stacks(<<~RUBY, *(0..16).map { |i| 40_001 + (i * 2) })
      def down(depth, size) = depth.zero? ? take(size) : (depth.odd? ? [1].each { down(depth - 1, size) } : down(depth - 1, size))
      sizes = (0..16).map { |i| 40_001 + (i * 2) }
      sizes.shuffle(random: Random.new(1)).each { |size| down((size - 40_001) % 17, size) }
      compare(*sizes)
    RUBY
  end

  # Code that is gone, with other code in its memory.
  def test_code_that_goes
    assert_stacks(<<~RUBY, 30_011, 30_013)
      1000.times do |i|
        eval("def passing\\n \#{"1;" * (i % 7)} 'x' * 1000\\nend; passing", TOPLEVEL_BINDING, "passing_\#{i}.rb", i)
        GC.start if i % 300 == 0
      end
      eval("def last\\n take(30_011)\\nend; last", TOPLEVEL_BINDING, "last.rb", 50)
      GC.start
      eval("def last\\n\\n take(30_013)\\nend; last", TOPLEVEL_BINDING, "later.rb", 70)
      compare(30_011, 30_013)
    RUBY
  end

  # The outermost frames of a stack that is deeper than is told are left out.
  def test_a_deep_stack
    found = stacks(<<~RUBY)
      def deep(depth) = depth.zero? ? take(30_011) : deep(depth - 1)
      deep(5000)
      frames = stack(30_011, RAW[0])
      answer lines: frames.uniq.size, enough: frames.size.between?(700, 1024)
      deep(3)
    RUBY
    assert_equal({ lines: 1, enough: true }, found)
  end

  def test_labels_have_their_classes
    found = stacks(<<~RUBY)
      module Shop; class Cart; def add = take(30_011); def self.open = [1].each { new.add }; end; end
      Shop::Cart.open
      record = RAW[0].find { |each| each["bytes"] == 30_011 }
      answer labels: record["ruby_frames"].map { |frame| frame["label"] }.grep(/Shop/)
    RUBY
    assert_equal ["Shop::Cart#add", "block in Shop::Cart.open", "Shop::Cart.open"], found[:labels]
  end

  def test_a_forked_child_and_quiet_code
    assert_stacks(<<~RUBY, 30_011)
      def outer = yield
      reader, writer = IO.pipe
      fork do
        $stdout.reopen(writer)
        outer { take(30_011) }
        compare(30_011)
      end
      writer.close
      $stdout.puts reader.read
      Process.wait
    RUBY
  end

  private

  def assert_stacks(text, *sizes)
    assert_equal sizes.to_h { |size| [:"of_#{size}", true] }, stacks(text)
  end

  def stacks(text)
    ask(TAKE + text, heapline: "blocks")
  end
end
