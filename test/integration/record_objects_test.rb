# frozen_string_literal: true

require "test_helper"
require "support/recorded"
require "heapline/capture"

# Ruby objects in recordings: each from its birth to its sweep, against what the accounting counts in the same process.
class RecordObjectsTest < Minitest::Test
  include Recorded

  # Line 3: 3,000 die; line 4: 1,000 stay; line 5: 500 strings of a class of its own stay.
  PLANTED = "class Planted; end\nclass Word < String; end\n3000.times { Planted.new }\n" \
            "$kept = Array.new(1000) { Planted.new }\n$words = Array.new(500) { Word.new }\nGC.start\n"
  MOVING = "class Planted; end\n$kept = []\n4000.times { |i| o = Planted.new; $kept << o if i % 7 == 0 }\nGC.start\n" \
           "GC.compact if GC.respond_to?(:compact)\n$kept.shift(100)\nGC.start\n2000.times { Planted.new }\nGC.start\n"
  RACTORS = "class Planted; end\n" \
            "rs = 3.times.map { Ractor.new { 1000.times { Planted.new } } }\n" \
            "rs.each { |r| r.respond_to?(:value) ? r.value : r.take }\n500.times { Planted.new }\nGC.start\n"

  BUSY = <<~'RUBY'
    require "erb"
    require "json"
    require "zlib"
    queue = Thread::Queue.new
    threads = Array.new(6) do |number|
      Thread.new do
        100.times do |i|
          queue << (text = JSON.generate({ a: "x" * (7 * i), b: [*0..i % 50] }))
          JSON.parse(text, symbolize_names: true)
          Zlib::Deflate.deflate(text * 20)
          ERB.new("<%= text.size %> <% 3.times do |j| %><%= j %><% end %>").result(binding)
          begin
            Integer("z#{i}")
          rescue ArgumentError => e
            e.backtrace
          end
          values = Enumerator.new { |to| 5.times { |k| to << "k#{k}" * 30 } }
          2.times { values.next }
          Fiber.new { Fiber.yield "f" * 500 }.resume
          Object.new.tap { |one| one.define_singleton_method(:own) { "z" * 300 } }.own
          catch(:it) { throw :it, "y" * 200 }
          "abc def".scan(/\w+/) { $~.pre_match }
          eval("'e' * #{i + 24}", binding, "line#{i % 3}", i)
          [3, 1, 2].sort_by { |value| -value }.each_slice(2).map(&:sum)
          GC.start if i % 40 == 39
          GC.compact if i == 50 && number == 1 && GC.respond_to?(:compact)
        end
      end
    end
    Thread.new { loop { queue.pop.size } }
    threads.each(&:join)
    TracePoint.new(:call) { "t" * 100 }.enable { 50.times { JSON.generate([1]) } }
    def plus(value) = value + 1
    Thread.new do
      Thread.current.set_trace_func(proc { |*| })
      50.times { plus(1) }
    end.join
    at_exit { "end" * 200 }
  RUBY

  # The flight file stays to be read.
  def record_objects(source, *options, **more)
    record(source, "--objects", *options, env: { "HEAPLINE" => "keep" }, **more)
  end

  def objects(file = path("run.hlc"), **choice)
    Heapline::Capture.open(file, objects: true, **choice)
  end

  # { [class, "path:line"] => [allocated, freed, bytes allocated, bytes freed] } of what Ruby lines made; class nil: of
  # blocks.
  def recorded(capture)
    capture.stacks.each_with_object({}) do |stack, all|
      next unless (place = line(stack.frames.reverse.find { |one| !one.native? }&.place))

      sums = stack.sums
      add(all, [stack.class_name, place],
          [sums.allocations, sums.allocations - sums.live_blocks,
           sums.bytes_allocated, sums.bytes_allocated - sums.live_bytes])
    end
  end

  # The same, as the process's flight file has it.
  def counted(pid)
    Heapline::Accounting::Flight.read(flight_of(pid)).objects.sites.each_with_object({}) do |site, all|
      next unless (place = counted_at(site))

      add(all, [site.name, place],
          [site.allocated, site.freed, site.slot_bytes_allocated, site.slot_bytes_freed])
    end
  end

  # The line, or nil: a JIT's; line 0, where the VM has a frame of its own before a file's first line. BUSY has one that
  # runs.
  def line(place)
    place unless place.to_s.end_with?(":0") && place != "line0:0"
  end

  def counted_at(site)
    line("#{site.location.path}:#{site.location.lineno}") if site.location.lineno
  end

  def add(all, key, figures)
    all[key] = (all[key] || [0, 0, 0, 0]).zip(figures).map(&:sum)
  end

  def assert_equals_the_accounting(file = path("run.hlc"))
    capture = objects(file)
    assert_empty capture.problems
    assert_live_identity([flight_of(capture.summary.pid)])
    assert_same(counted(capture.summary.pid), recorded(capture))
  end

  def assert_same(wanted, got)
    refute_empty wanted
    assert_empty((wanted.to_a - got.to_a).first(5), "the accounting alone has them")
    assert_empty((got.to_a - wanted.to_a).first(5), "the capture alone has them")
  end

  # The same of blocks, which have no class.
  def blocks_counted(pid)
    Heapline::Accounting::Flight.read(flight_of(pid)).sites.each_with_object({}) do |site, all|
      next unless site.allocations.positive? && (place = counted_at(site))

      add(all, [nil, place], [site.allocations, site.frees, site.bytes_allocated, site.bytes_freed])
    end
  end

  def assert_no_unknown_frame
    names = objects.stacks.flat_map { |stack| stack.frames.map(&:label) }
    refute_includes names, "(unknown frame)"
  end

  def assert_same_blocks
    capture = Heapline::Capture.open(path("run.hlc"))
    wanted = blocks_counted(capture.summary.pid)
    assert_operator wanted.size, :>, 20
    assert_same(wanted, recorded(capture).select { |_, figures| figures.first.positive? })
  end

  def of(name, line)
    objects(class_name: name).sites(by: :line).find { |group| group.key.end_with?("program.rb:#{line}") }&.sums
  end

  def test_planted_objects
    record_objects(PLANTED)
    assert_equal 0, @status.exitstatus, @err
    gone = of("Planted", 3)
    kept = of("Planted", 4)
    assert_equal [3000, 1000, 1000, 0], [gone.allocations, kept.allocations, kept.live_blocks, kept.temporary_blocks]
    assert_operator gone.live_blocks, :<=, 10, "a conservative stack may hold a few"
    assert_operator gone.temporary_blocks, :>=, 2980
    assert_equal %w[objects], objects.summary.options
    assert_equal [500, 500], of("Word", 5).to_h.values_at(:allocations, :live_blocks)
    assert_equals_the_accounting
  end

  def test_objects_that_move
    record_objects(MOVING)
    assert_equal 0, @status.exitstatus, @err
    assert_equals_the_accounting
  end

  # Threads, fibers, errors, code from strings, C code that lets others run, compaction; and what YJIT compiles of it.
  def test_a_program_that_does_much_at_once
    jits = RubyVM.const_defined?(:YJIT) && RUBY_VERSION >= "3.2" ? [[], ["--yjit"]] : [[]]
    jits.each do |jit|
      record_objects(BUSY, ruby: jit)
      assert_equal 0, @status.exitstatus, @err
      assert_equals_the_accounting
      assert_same_blocks
      assert_no_unknown_frame
      File.unlink(path("run.hlc"))
    end
  end

  def test_ractors
    record_objects(RACTORS, ruby: ["-W0"])
    assert_equal 0, @status.exitstatus, @err
    return assert_equals_the_accounting unless RUBY_VERSION < "3.3"

    # The accounting gives up when the first Ractor comes, and the recording with it: before some classes have names.
    # Whoever ends the recording or reads the capture is told.
    said = /Ruby objects are recorded only up to .+: then the program began a Ractor/
    assert_match(said, @err)
    assert_match(said, objects.problems.join)
    assert_match(said, Heapline::Capture.open(path("run.hlc")).notes.join)
    allocated = [counted(objects.summary.pid), recorded(objects)].map { |all| all.values.transpose.map(&:sum) }
    assert_equal(*allocated)
  end

  def test_a_forked_child
    record_objects("class Planted; end\nold = Array.new(300) { Planted.new }\n" \
                   "Process.wait(fork { old = nil; GC.start; $own = Array.new(200) { Planted.new } })\n", "--follow")
    child, = Dir[path("run-*.hlc")]
    assert_equal %w[follow objects], objects(child).summary.options
    assert_equal [200, 200], objects(child, class_name: "Planted").sums.to_h.values_at(:allocations, :live_blocks)
    assert_equals_the_accounting
  end

  def test_killed
    record("class Planted; end\n$kept = Array.new(700) { Planted.new }\n100.times { 'x' * 100 }\nsleep 0.1\n" \
           "Process.kill(:KILL, $$)\nsleep\n", "--objects")
    assert_equal 700, objects(class_name: "Planted").sums.live_blocks
  end

  def test_a_process_that_accounts_its_objects
    pid, = start(program("class Planted; end\nputs 1\n$stdout.flush\nloop { 20.times { Planted.new }; sleep 0.001 }\n"),
                 "--objects")
    recorded_until(pid, "--objects") { objects(class_name: "Planted").sums.allocations.positive? }
    assert_equal %w[objects], objects.summary.options
  end

  def test_a_process_that_does_not
    pid, = start(program("puts 1\n$stdout.flush\nloop { 'x' * 100; sleep 0.001 }\n"))
    _, err, status = heapline("record", *PATIENTLY, pid.to_s, "--objects", "--duration", "0.5", "-o", path("run.hlc"))
    assert_equal 3, status.exitstatus
    assert_match(/does not count Ruby objects/, err)
  end

  def test_blocks_are_what_they_were
    capture = record_objects(PLANTED)
    assert_exact(capture)
    assert_empty Heapline::Capture.open(path("run.hlc")).summary.classes
  end
end
