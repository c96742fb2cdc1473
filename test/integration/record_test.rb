# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/recorded"
require "zlib"

# What `heapline record` records, against programs with planted truth and against the accounting of the same run.
class RecordTest < Minitest::Test
  include Recorded

  KEEP = { HEAPLINE: "keep" }.freeze

  # Births of exactly this size.
  def sized(capture, size)
    capture.births.select { |event| event.bytes == size }
  end

  def lines(event)
    event.stack.map { |frame| frame.sub(/@.*:/, "@") }
  end

  def test_all_equals_the_accounting
    source = <<~RUBY
      kept = Array.new(20_000) { |i| "s" * (i % 500) }
      big = +""
      2_000.times { big << "more and more" * 10 }
      4.times.map { |t| Thread.new { 3_000.times.map { |i| "t" * (100 + t + i % 300) }.sum(&:size) } }.each(&:join)
      Fiber.new { 1_000.times { "f" * 900 } }.resume
      begin; raise "deliberate"; rescue; end
      GC.start
      puts kept.size + big.size
      exit 3
    RUBY
    capture = record(source, env: KEEP)
    assert_equal 3, @status.exitstatus
    assert_equal "280000\n", @out
    assert_exact capture
    assert_equal "exit 3", capture.ending
    assert_operator capture.ruby, :start_with?, "ruby #{RUBY_VERSION}"
    refute_empty capture.samples
    assert_operator capture.of(:gc_start).size, :>, 0
    assert_equal capture.of(:gc_start).map(&:bytes).sort, capture.of(:gc_start).map(&:bytes)
  end

  def test_each_function_of_the_family
    text = "require #{NativePrograms.extension("family").inspect}\nFamily.run\nFamily.whole_pages\n"
    capture = record(text, env: KEEP)
    assert_predicate @status, :success?, @err
    assert_exact capture
    %i[malloc calloc realloc resize memalign aligned_alloc posix_memalign valloc pvalloc free].each do |kind|
      refute_empty capture.of(kind), kind
    end
    assert_equal([4096], capture.of(:valloc).map(&:alignment).uniq)
    assert(capture.of(:posix_memalign).all? { |event| event.alignment.positive? })
    assert_empty capture.of(:realloc_older)
  end

  def test_stacks_are_whole
    source = <<~RUBY
      class Cache
        def put(size)
          @kept = "c" * size
        end
        def self.make = new
      end
      def deep(n)
        n.zero? ? Cache.make.put(7_001) : deep(n - 1)
      end
      def other = deep(2)
      deep(1)
      other
      [1].each { Thread.new { other }.join }
    RUBY
    found = sized(record(source), 7_002)
    expected = [
      %w[<main>@11 Object#deep@8 Object#deep@8 Cache#put@3],
      %w[<main>@12 Object#other@10 Object#deep@8 Object#deep@8 Object#deep@8 Cache#put@3],
      ["block (2 levels) in <main>@13", "Object#other@10", "Object#deep@8", "Object#deep@8", "Object#deep@8",
       "Cache#put@3"]
    ]
    assert_equal(expected, found.map { |event| lines(event).reject { |frame| frame.include?("@/") } })
    assert_equal 2, found.map(&:thread).uniq.size
  end

  # Calls and returns of all kinds at random, more than 100 frames deep. Says of each block which of these frames Ruby
  # itself named, but for evaluated code and rescuing, which Rubies tell differently.
  DEEP = <<~'RUBY'
    require "continuation"
    require "zlib"
    DRAW = Random.new(14)
    $calls, $takes = 1_000, 0
    def take
      seen = caller_locations(1).select { |at| at.path == __FILE__ && at.base_label.match?(/\A(go|form_)/) }
      frames = seen.map { |at| "#{at.base_label}:#{at.lineno}" }
      puts [$takes += 1, frames.size, Zlib.crc32(frames.reverse.join(" "))].join(" ")
      "t" * (30_000 + $takes)
    end
    def form_call(depth) = go(depth)
    def form_block(depth) = [1].each { go(depth) }
    def form_proc(depth) = proc { go(depth) }.tap(&:call).call
    def form_send(depth) = send(:go, depth)
    def form_eval(depth) = binding.eval("go(depth)")
    def form_fiber(depth) = Fiber.new { go(depth) }.resume
    def rescuing(depth)
      go(depth)
      raise "deliberate"
    rescue RuntimeError
      take
      go(depth)
    ensure
      take
    end
    def form_catch(depth)
      outside = Thread.current[:catches]
      catch(:up) { Thread.current[:catches] = true; go(depth) }
    ensure
      Thread.current[:catches] = outside
    end
    def form_again(depth)
      again = callcc { |from_here| from_here }
      go(depth)
      again.call(nil) if again
    end
    FORMS = [*private_methods.grep(/\Aform_/).sort, :rescuing]
    def go(depth)
      while ($calls -= 1).positive? && depth < 150
        case DRAW.rand(20)
        when 0, 1 then take
        when 2 then take; take
        when 3
          take
        when 4 then return
        when 5 then throw :up if Thread.current[:catches] && DRAW.rand(8).zero?
        else send(FORMS[DRAW.rand(FORMS.size)], depth + 1)
        end
      end
    end
    go(0) while $calls.positive?
  RUBY

  def test_what_changes_in_a_deep_stack_is_told
    [[], *(["--yjit"] if defined?(RubyVM::YJIT))].each do |jit|
      capture = record(DEEP, ruby: ["-W0", *jit], env: { RUBY_THREAD_VM_STACK_SIZE: (4 << 20).to_s, **KEEP })
      assert_predicate @status, :success?, @err
      said = @out.lines.to_h { |line| line.split.map(&:to_i).then { |take, *frames| [take, frames] } }
      assert_operator said.size, :>, 100
      assert_operator said.values.map(&:first).max, :>, 100
      assert_equal said, told(capture, 30_001..(30_001 + said.size))
    end
  end

  # Of blocks of these sizes what DEEP says of them.
  def told(capture, sizes)
    capture.births.select { |event| sizes.cover?(event.bytes) }.to_h do |event|
      frames = event.stack.filter_map { |frame| frame[/(?:\A|[ #])((?:go|form_\w+)@[^(]*:\d+)\z/, 1]&.sub(/@.*:/, ":") }
      [event.bytes - 30_001, [frames.size, Zlib.crc32(frames.join(" "))]]
    end
  end

  # More labels than an event had room to number, and each lane has its own.
  def test_many_tags
    capture = record(<<~RUBY, ruby: ["-I#{Heapline::TestHelper::LIB}"], env: KEEP)
      require "heapline"
      KEPT = Array.new(2) do |half|
        Thread.new { Array.new(2000) { |n| Heapline.tag("tenant \#{half} \#{n}") { "t" * (20_000 + n) } } }
      end.map(&:value)
    RUBY
    [0, 1, 1023, 1024, 1999].each do |n|
      assert_equal(["tenant 0 #{n}", "tenant 1 #{n}"], sized(capture, 20_001 + n).map(&:tag).sort)
    end
  end

  def test_tags_and_threads
    source = <<~RUBY
      require "heapline"
      Heapline.tag("payroll") { $kept = "p" * 7_003 }
      Thread.new { Thread.current.name = "worker-7"; $more = "w" * 7_005 }.join
      Heapline.quiet { $quiet = "q" * 7_007 }
      $quiet = nil
      GC.start
    RUBY
    capture = record(source, ruby: ["-I#{Heapline::TestHelper::LIB}"], env: KEEP)
    assert_exact capture
    assert_equal(["payroll"], sized(capture, 7_004).map(&:tag))
    assert_empty sized(capture, 7_008)
    assert_equal 1, sized(capture, 7_006).size
    refute_equal sized(capture, 7_004).first.thread, sized(capture, 7_006).first.thread
    assert_operator capture.of(:thread_start).size, :>=, 2
  end

  def test_after_sigkill_everything_is_there
    capture = record("10_000.times { |i| $kept = 'k' * i }\nProcess.kill(:KILL, $$)\nsleep\n")
    assert_equal 137, @status.exitstatus
    assert_exact capture
    assert_equal "signal 9", capture.ending
  end

  def test_very_deep_recursion_tells_how_much_is_left_out
    source = <<~RUBY
      def down(n) = n.zero? ? $kept = "d" * 7_009 : down(n - 1)
      Thread.new { down(9_000) }.join
    RUBY
    capture = record(source, env: { RUBY_THREAD_VM_STACK_SIZE: (16 << 20).to_s, **KEEP })
    assert_predicate @status, :success?, @err
    assert_exact capture
    stack = sized(capture, 7_010).first.stack
    assert_match(/\A\((\d+) outer frames\)@/, stack.first)
    assert_includes 768..1025, stack.size
    # … and the VM's own, below the thread's first.
    assert_includes 9_002..9_004, stack.size - 1 + stack.first[/\d+/].to_i
  end

  def test_code_that_dies_leaves_no_name_to_others
    source = <<~RUBY
      3_000.times do |i|
        eval("def made\#{i % 7}\n#{"\\n" * 3}'e' * 7_011\nend\nmade\#{i % 7}", nil, "generated\#{i}.rb", 1)
      end
    RUBY
    found = sized(record(source, env: KEEP), 7_012)
    assert_equal 3_000, found.size
    found.each_with_index do |event, i|
      frames = event.stack.grep(/generated/)
      assert_equal 2, frames.size, event.stack.inspect
      assert_match(/@generated#{i}\.rb:/, frames.first)
      assert_match(/made#{i % 7}@generated#{i}\.rb:5\z/, frames.last)
    end
  end

  def test_mappings
    source = <<~RUBY
      require "fiddle"
      libc = Fiddle.dlopen(nil)
      long, void = Fiddle::TYPE_LONG, Fiddle::TYPE_VOIDP
      map = Fiddle::Function.new(libc["mmap"], [void, long, Fiddle::TYPE_INT, Fiddle::TYPE_INT, Fiddle::TYPE_INT, long], void)
      remap = Fiddle::Function.new(libc["mremap"], [void, long, long, Fiddle::TYPE_INT], void)
      unmap = Fiddle::Function.new(libc["munmap"], [void, long], Fiddle::TYPE_INT)
      at = map.call(nil, 7_340_032, 3, 0x22, -1, 0)
      at = remap.call(at, 7_340_032, 9_437_184, 1)
      unmap.call(at, 9_437_184)
    RUBY
    capture = record(source, ruby: FlightRun::FIDDLE.map { |directory| "-I#{directory}" }, env: KEEP)
    assert_exact capture
    first = capture.of(:mmap).find { |event| event.bytes == 7_340_032 }
    moved = capture.of(:remap).find { |event| event.bytes == 9_437_184 }
    assert_equal first.block, moved.block
    assert_match(/program\.rb:7/, first.stack.join("|"))
    after = capture.events.drop(capture.events.index(moved) + 1)
    assert_equal :munmap, after.find { |event| event.block == moved.block }.kind
  end
end
