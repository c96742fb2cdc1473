# frozen_string_literal: true

require "test_helper"
require "json"
require "objspace"
require "support/accounted"
require "support/flight_run"

module Heapline
  # Memory of each kind, planted in real processes, lies in its line of the ledger.
  class LedgerTest < Minitest::Test
    include Accounted

    MB = 1_000_000
    # Bytes of a plain object's slot: 40, and 32 on Ruby 4.1.
    SLOT = ObjectSpace.dump(Object.new)[/"slot_size":(\d+)/, 1]&.to_i || 40

    # Says "ready" and then allocates a little now and then, as a program does that lives.
    LIVE = <<~RUBY
      $stdout.sync = true
      puts "ready"
      loop { String.new(capacity: 4_000); sleep 0.01 }
    RUBY

    # With what a test wants besides: another allocator than glibc's, a setting.
    def environment(**more)
      super(RUBYLIB: FlightRun::FIDDLE.join(":"), **@wanted.to_h, **more)
    end

    def lines_of(pid, *options)
      out, err, status = heapline("rss", "--json", *PATIENTLY, *options, pid.to_s)
      assert status.success?, err
      @report = JSON.parse(out)
      lines = @report["lines"].to_h { |line| [line["key"].to_sym, line["bytes"]] }
      assert_equal @report["rss_bytes"], lines.values.sum
      refute_nil @report["figures"]["objects_at"], "it did not answer"
      lines
    end

    def ledger(source, *options)
      pid, = start(program(source + LIVE))
      [lines_of(pid, *options), pid]
    end

    # The remainder is a part of RSS that nobody can explain; allow 3 %, and 1 MB where RSS is small.
    def assert_explained(lines)
      assert_operator lines[:remainder], :<=, [0.03 * @report["rss_bytes"], MB].max, lines.inspect
      assert_operator lines[:remainder], :>=, 0
    end

    def assert_about(expected, bytes, tolerance = 0.05)
      assert_in_delta expected, bytes, expected * tolerance
    end

    def test_native_blocks
      before, = ledger("")
      lines, = ledger(BLOCKS)
      assert_about 100 * MB, lines[:malloc_ruby] - before[:malloc_ruby]
      assert_explained lines
    end

    def test_ruby_objects
      lines, = ledger("KEPT = Array.new(1_250_000) { Object.new }\n")
      assert_operator lines[:objects_live], :>, 1_250_000 * SLOT
      assert_operator lines[:objects_live], :<, (1_250_000 * SLOT) + (8 * MB)
      assert_explained lines
    end

    # The garbage is made on a stack that goes: what a left-over word of the stack points to, GC keeps.
    def test_free_object_slots
      lines, = ledger(<<~RUBY)
        KEPT = Thread.new { Array.new(1_000_000) { Object.new }.each_slice(50).map(&:first) }.value
        GC.start
      RUBY
      assert_operator lines[:objects_free], :>, 750_000 * SLOT
      assert_operator lines[:objects_live], :<, 10 * MB
      assert_explained lines
    end

    # Each of 200 threads uses some 100 kB of its stack: `catch` calls through C.
    def test_stacks
      lines, = ledger(<<~RUBY)
        def deep(left, ready) = left.zero? ? (ready << 1; sleep) : catch { deep(left - 1, ready) }
        ready = Queue.new
        200.times { Thread.new { deep(150, ready) } }
        200.times { ready.pop }
      RUBY
      assert_operator lines[:stacks], :>, 10 * MB
      assert_operator lines[:stacks], :<, 150 * MB
      assert_explained lines
    end

    def test_memory_that_was_never_touched_is_not_resident
      lines, = ledger("Warning[:experimental] = false; KEPT = IO::Buffer.new(200_000_000, IO::Buffer::INTERNAL)\n")
      assert_operator lines[:malloc_ruby], :<, 20 * MB
      assert_operator @report["untouched_bytes"], :>, 180 * MB
      assert_operator @report["rss_bytes"], :<, 100 * MB
      assert_explained lines
    end

    MMAP = <<~RUBY
      require "fiddle"
      types = [Fiddle::TYPE_SIZE_T, Fiddle::TYPE_SIZE_T, *[Fiddle::TYPE_INT] * 3, Fiddle::TYPE_LONG]
      map = Fiddle::Function.new(Fiddle.dlopen(nil)["mmap"], types, Fiddle::TYPE_VOIDP)
      mapped = map.call(0, 80_000_000, 3, 0x22, -1, 0)
      text = "x" * 1_000_000
      80.times { |i| mapped[i * text.size, text.size] = text }
      KEPT = Array.new(10) { Fiddle.malloc(50_000_000) }
    RUBY

    # Memory of another's does not count as the blocks of malloc's that nobody has touched.
    [nil, "libjemalloc.so.2"].each do |library|
      define_method("test_memory_of_anothers_over_#{library || "glibc"}") do
        skip "#{library} is not installed" if library && Dir["/usr/lib/*/#{library}"].empty?
        @wanted = { LD_PRELOAD: library } if library
        lines, = ledger(MMAP)
        assert_operator lines[:malloc_ruby], :<, 10 * MB
        assert_includes 75..90, lines[:remainder] / MB, "of jemalloc some is unknown, too"
        assert_operator lines[:other], :<, 6 * MB
        assert_operator @report["untouched_bytes"], :>, 400 * MB
      end
    end

    # A large buffer that nobody has touched takes nothing from what others have.
    def test_a_buffer_that_was_never_touched
      strings = "STRINGS = Array.new(2000) { 'x' * 10_000 }\n"
      buffer = "Warning[:experimental] = false; BUFFER = IO::Buffer.new(300_000_000, IO::Buffer::INTERNAL)\n"
      without, with = [strings, buffer + strings].map { |source| ledger(source).first }
      without.each { |key, bytes| assert_in_delta bytes, with[key], MB, key }
    end

    # All of it was written, and all of it is in mappings of its own.
    def test_small_blocks_in_mappings_of_their_own
      @wanted = { MALLOC_MMAP_THRESHOLD_: "32768" }
      lines, = ledger(<<~RUBY)
        require "fiddle"
        KEPT = Array.new(1000) { Fiddle::Pointer.new(Fiddle.malloc(40_000)) }
        KEPT.each { |block| block[0, 40_000] = "x" * 40_000 }
      RUBY
      assert_operator lines[:malloc_ruby], :>, 40 * MB
      assert_operator @report["untouched_bytes"], :<, 4 * MB
      assert_explained lines
    end

    # Of ten blocks in a row nine are freed: the pages between those that stay can be given back.
    HOLES = <<~RUBY
      KEPT = Thread.new { Array.new(20_000) { String.new("x" * 12_000) }.each_slice(10).map(&:first) }.value
      GC.start
    RUBY

    def test_what_is_freed_is_held_until_it_is_trimmed
      lines, pid = ledger(HOLES)
      assert_operator lines[:malloc_held], :>, 50 * MB
      least, most = @report["returnable_bytes"]
      assert_operator least, :>, 40 * MB
      out, err, status = heapline("trim", *PATIENTLY, pid.to_s)
      assert status.success?, err
      before, after = out.match(/was ([\d.]+) MB, is ([\d.]+) MB/).captures.map { |size| size.to_f * MB }
      assert_operator before - after, :>=, least * 0.9
      assert_operator before - after, :<=, (most * 1.05) + MB
      assert_operator lines_of(pid)[:malloc_held], :<, lines[:malloc_held] - (least * 0.8)
    end

    def test_a_forked_child
      source = "KEPT = Array.new(300_000) { Object.new }\nchild = fork { CHILD = 'c' * 30_000_000\n" \
               "File.write(#{path("filled").dump}, '')\n#{LIVE}}\n" \
               "at_exit { Process.kill(:KILL, child) }\n"
      file = program("#{source}puts child\nsleep\n")
      parent, = start(file)
      child = await("the child has no flight file") do
        flight_files.map { |path| path[/(\d+)-\d+\.flight/, 1].to_i }.find { |pid| pid != parent }
      end
      await("it does not fill its memory") { File.exist?(path("filled")) }
      lines = lines_of(child)
      assert_operator lines[:malloc_ruby], :>, 30 * MB
      assert_operator lines[:objects_live], :>, 300_000 * SLOT
    ensure
      stop(child) if child
    end

    def test_after_exec
      file = program("KEPT = 'k' * 30_000_000\n#{LIVE}", "second.rb")
      first = program("ON_THE_WAY = 'o' * 60_000_000\nexec(#{RbConfig.ruby.inspect}, #{file.inspect})\n")
      pid, = start(first)
      assert_about 30 * MB, lines_of(pid)[:malloc_ruby], 0.3
    end

    BLOCKS = "KEPT = Array.new(100) { 'x' * 1_000_000 }\n"

    # What the allocator says of itself is what the kernel has, within a few per cent.
    %w[libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0].each do |library|
      define_method("test_blocks_of_#{library[/lib([a-z]+)/, 1]}") do
        skip "#{library} is not installed" if Dir["/usr/lib/*/#{library}"].empty?
        @wanted = { LD_PRELOAD: library }
        lines, = ledger(BLOCKS)
        assert_operator lines[:malloc_ruby], :>, 100 * MB
        assert_operator @report["figures"]["resident_bytes"], :>, 90 * MB
        assert_operator lines[:malloc_held], :>, -5 * MB
        assert_explained lines
      end
    end

    def test_code_made_at_run_time
      skip "this Ruby has no YJIT" unless defined?(RubyVM::YJIT) && RubyVM::YJIT.respond_to?(:enable)
      lines, = ledger("RubyVM::YJIT.enable\ndef hot(x) = x * 2 + 1\n500_000.times { |i| hot(i) }\n")
      assert_operator lines[:jit], :>=, 4096
      assert_explained lines
    end

    # It is stopped: its last figures are told.
    def test_a_process_that_hangs
      lines, pid = ledger("KEPT = Array.new(500_000) { Object.new }\n")
      halt(pid)
      out, err, status = heapline("rss", "--json", "--timeout", "0.05", pid.to_s)
      assert status.success?, err
      again = JSON.parse(out)["lines"].to_h { |line| [line["key"].to_sym, line["bytes"]] }
      assert_in_delta lines[:objects_live], again[:objects_live], MB
    end

    # Live slots as a dump tells them: Ruby 3.2 tells of no size how many live, 3.1 has one size and names none.
    def test_the_vm_s_own_figures
      lines, = ledger(<<~RUBY)
        require "objspace"
        GC.start
        GC.disable
        File.open(#{path("dump").inspect}, "w") { |file| ObjectSpace.dump_all(output: file) }
        pages = GC.stat(:heap_allocated_pages)
        File.write(#{path("heap").inspect}, [GC::INTERNAL_CONSTANTS[:HEAP_PAGE_SIZE], pages].join(" "))
      RUBY
      live = File.foreach(path("dump")).grep_v(/"type":"ROOT"/).sum { |line| line[/"slot_size":(\d+)/, 1]&.to_i || 40 }
      page, pages = File.read(path("heap")).split.map(&:to_i)
      figures = @report["figures"]
      assert_equal page, figures["heap_page_bytes"]
      assert_operator figures["heap_pages"], :>=, pages
      assert_in_delta live, lines[:objects_live], MB
    end

    # The program sees none of it.
    def test_being_asked_changes_nothing_that_is_seen
      file = program(<<~RUBY)
        trap(:CHLD) { puts "SIGCHLD" }
        raised = nil
        begin; raise "before"; rescue => raised; end
        threads = Thread.list.size
        #{LIVE.sub("loop {", "200.times {")}
        p $!, Thread.list.size - threads, Process.waitall
      RUBY
      reader, writer = IO.pipe
      pid = Process.spawn(environment, *heapline_command("--quiet", RbConfig.ruby, file), out: writer, err: writer)
      writer.close
      assert_equal "ready\n", reader.gets
      heapline("trim", *PATIENTLY, pid.to_s)
      assert_equal "nil\n0\n[]\n", reader.read
      assert_equal 0, Process.wait2(pid).last.exitstatus
    end
  end
end
