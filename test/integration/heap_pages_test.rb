# frozen_string_literal: true

require "test_helper"
require "json"
require "support/accounted"
require "support/answers"

# The pages of the object heap of real programs: equal to what the VM counts, and to what was planted.
class HeapPagesTest < Minitest::Test
  include Answers

  # Fills pages with objects of one line, and lets go of all but one in each that they fill by half.
  PLANT = <<~'RUBY'
    class Keeper; end
    ADDRESS = Kernel.instance_method(:to_s)
    SIZE = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE)
    def page_of(object) = ADDRESS.bind_call(object)[/0x\h+/].hex & -SIZE
    def plant
      many = Array.new(60_000) { Keeper.new }
      many.group_by { |one| page_of(one) }.values.select { |same| same.size > SIZE / 40 * 9 / 10 }.map(&:last)
    end
    KEPT = plant
    PLANTED = KEPT.map { |one| page_of(one) }
    3.times { GC.start }
  RUBY
  LINE = PLANT.lines.index { |line| line.include?("Keeper.new") } + 2

  # What the GC counts of its pages, and what Heapline.heap_pages has. The VM may take a page between the two, for the
  # objects that are made meanwhile: then once more. (Up to 3.3 the GC counts slots of pages in reserve.)
  COUNTS = <<~RUBY
    Heapline.heap_pages # what it requires is there
    def counts
      found = nil
      20.times do
        found = compare(GC.stat, Heapline.heap_pages)
        break if found[:pages].uniq.one?
      end
      found
    end
    def compare(stat, pages)
      all = pages.totals
      { pages: [pages.size, stat[:heap_allocated_pages]],
        reserve: [pages.reserve.size, stat[:heap_empty_pages] || stat[:heap_tomb_pages]],
        slots: [all.slots, stat[:heap_tomb_pages].to_i.zero? ? stat[:heap_available_slots] : all.slots],
        sum: [all.slots, all.live_slots + all.garbage_slots + all.free_slots],
        freed: [pages.freed.count, stat[:total_freed_pages]],
        page_bytes: [pages.page_bytes, GC::INTERNAL_CONSTANTS[:HEAP_PAGE_SIZE]],
        in_use: [all.live_slots + all.garbage_slots, stat[:heap_live_slots] + stat[:heap_final_slots]] }
    end
  RUBY

  def assert_same_counts(counts)
    in_use = counts.delete(:in_use)
    counts.each { |name, (ours, theirs)| assert_equal theirs, ours, name }
    # GC.stat was asked a little before the copy was made.
    assert_in_delta in_use.last, in_use.first, 1000
  end

  def test_the_vm_counts_the_same
    found = ask(<<~RUBY)
      #{COUNTS}
      GC.disable # then no page comes or goes but for new objects
      answer before: counts
      GC.enable
      many = Array.new(200_000) { |i| [Object.new, "text" * (i % 60)] }
      GC.disable
      answer full: counts
      many = nil
      GC.enable
      4.times { GC.start }
      GC.disable
      answer empty: counts
      pages = Heapline.heap_pages
      answer births: pages.map(&:birth).minmax, generation: pages.generation, addresses: pages.map(&:address).uniq.size
    RUBY
    found.values_at(:before, :full, :empty).each { |counts| assert_same_counts(counts) }
    first, last = found[:births]
    assert_operator 0..found[:generation], :cover?, first..last
    assert_operator first, :<, last
    assert_operator found[:addresses], :>=, found[:empty][:pages].first
  end

  def test_what_keeps_sparse_pages
    found = ask(PLANT + <<~RUBY, heapline: "keep,objects")
      pages = Heapline.heap_pages
      sparse = pages.sparse(below: 0.5)
      kept = sparse.select { |page| page.holders.any? { |one| one.class_name == "Keeper" } }
      here = sparse.holders.find { |one| one.class_name == "Keeper" }
      answer planted: PLANTED.size, known: (pages.map(&:address) & PLANTED).size,
             sparse: (kept.map(&:address) & PLANTED).size, others: (kept.map(&:address) - PLANTED).size,
             holder: [here.location.to_s, here.internal, here.objects, here.pages, here.pinned],
             single: kept.count { |page| page.live_slots == 1 }
    RUBY
    planted = found[:planted]
    assert_operator planted, :>, 20
    assert_equal planted, found[:known]
    assert_match(/program\.rb:#{LINE}\z/, found[:holder].first)
    # A page or two are in use for new objects by now; and one Keeper more may lie on the machine stack still.
    assert_in_delta planted, found[:sparse], 3
    assert_in_delta planted, found[:single], 6
    assert_operator found[:others], :<=, 2
    assert_equal [false, found[:sparse] + found[:others]], found[:holder].values_at(1, 3)
    assert_operator found[:holder][4], :<=, 3
  end

  def test_garbage_is_told_from_what_lives
    found = ask(<<~RUBY)
      Heapline.heap_pages # what it requires is there
      GC.start
      GC.disable
      before = Heapline.heap_pages.totals
      20_000.times { Object.new }
      kept = Array.new(10_000) { Object.new }
      after = Heapline.heap_pages.totals
      answer live: after.live_slots - before.live_slots, garbage: after.garbage_slots - before.garbage_slots,
             kept: kept.size
    RUBY
    assert_in_delta 10_000, found[:live], 500
    assert_operator found[:garbage], :>=, 19_500
  end

  def test_without_accounted_objects_the_class_is_known
    found = ask(PLANT + <<~RUBY)
      here = Heapline.heap_pages.sparse(below: 0.5).holders.find { |one| one.class_name == "Keeper" }
      answer location: here.location, more: here.objects >= PLANTED.size - 3
    RUBY
    assert_equal({ location: nil, more: true }, found)
  end

  # What compaction does to them afterwards is what was told before.
  def test_compaction_empties_what_is_movable
    found = ask(PLANT + <<~RUBY)
      GC.respond_to?(:compact) or answer(none: true) || exit
      before = Heapline.heap_pages.sparse
      stay = before.to_a - before.movable
      GC.compact
      after = Heapline.heap_pages
      left = after.select { |page| page.live_slots.positive? }.map(&:address)
      answer movable: before.movable.size, emptied: (before.movable.map(&:address) - left).size,
             stay: (stay.map(&:address) - left).size
    RUBY
    skip "this Ruby cannot compact" if found[:none]
    assert_operator found[:movable], :>, 20
    assert_operator found[:emptied], :>=, found[:movable] / 2
    # What the machine stack pins by chance it may not pin a moment later.
    assert_operator found[:stay], :<=, 3
  end

  def test_names_of_classes
    found = ask(<<~'RUBY')
      module Deep; class Named; end; end
      kept = Array.new(60_000) { Deep::Named.new }
      nameless = Class.new(Deep::Named)
      pages = kept.group_by { |one| Kernel.instance_method(:to_s).bind_call(one)[/0x\h+/].hex >> 14 }.values
      kept = pages.each_slice(3).flat_map do |plain, other, single|
        plain.pop
        (other || plain).pop.tap { |one| one.define_singleton_method(:x) { 1 } }
        [plain.last, (other || plain).last, nameless.new]
      end
      pages = nil
      3.times { GC.start }
      names = Heapline.heap_pages.sparse(below: 0.5).holders.map(&:class_name)
      answer names: names.uniq & ["Deep::Named", "#<Class < Deep::Named>"], odd: names.grep(/0x/), kept: kept.size > 10
    RUBY
    assert_includes found[:names], "Deep::Named"
    assert_equal [[], true], found.values_at(:odd, :kept)
  end

  # The program goes on as it was: no GC, no object more or less, no descriptor, no child.
  def test_the_program_sees_nothing
    found = ask(<<~RUBY)
      freed = 0
      1000.times { ObjectSpace.define_finalizer(Object.new, proc { freed += 1 }) }
      GC.disable
      state = -> { [GC.count, freed, Dir.children("/proc/self/fd").size, GC.stat(:total_freed_objects)] }
      state.call
      Heapline.heap_pages
      before = state.call
      3.times { Heapline.heap_pages }
      answer same: state.call == before, state: [before, state.call]
      begin
        Process.wait
      rescue Errno::ECHILD
        answer children: 0
      end
    RUBY
    assert found[:same], found[:state].inspect
    assert_equal 0, found[:children]
  end

  def test_under_gc_stress_with_threads_and_compaction
    found = ask(<<~RUBY)
      #{COUNTS}
      stop = false
      threads = Array.new(3) { |n| Thread.new { ("x" * n * 30).dup until stop } }
      sizes = 3.times.map do
        reader, writer = IO.pipe
        GC.stress = true
        Heapline::Native.twin(:pages, writer.fileno, false)
        GC.stress = false
        writer.close
        lines = reader.readlines
        sleep 0.001 until Heapline::Native.twin_gone? # one at a time
        lines.last.start_with?('{"type":"HEAPLINE_END"') && lines.grep(/"pinned":[1-9]/).size
      end
      GC.auto_compact = true if GC.respond_to?(:auto_compact=)
      sizes += 5.times.map { GC.start; Heapline.heap_pages.size }
      stop = true
      threads.each(&:join)
      GC.disable
      answer counts: counts, sizes: sizes.all?(&:positive?)
    RUBY
    assert found[:sizes]
    assert_same_counts(found[:counts])
  end

  def test_a_forked_child_has_pages_of_its_own
    found = ask(<<~RUBY)
      #{COUNTS}
      Array.new(100_000) { Object.new }
      3.times { GC.start }
      births = Heapline.heap_pages.to_h { |page| [page.address, page.birth] }
      reader, writer = IO.pipe
      Process.wait(fork do
        freed = GC.stat(:total_freed_pages)
        GC.start
        many = Array.new(200_000) { Object.new }
        many = nil
        3.times { GC.start }
        GC.disable
        mine = counts # what the parent freed is not the child's
        mine[:freed][1] -= freed
        pages = Heapline.heap_pages
        inherited = pages.select { |page| births.key?(page.address) && page.birth <= births[page.address] }
        writer.write JSON.generate(counts: mine, same: inherited.all? { |page| page.birth == births[page.address] },
                                   inherited: inherited.size)
      end)
      writer.close
      answer child: JSON.parse(reader.read)
      GC.disable
      answer parent: counts
    RUBY
    assert_same_counts(found[:parent])
    child = found[:child]
    assert_same_counts(child[:counts])
    assert_equal [true, true], [child[:same], child[:inherited].positive?]
  end

  # No method of the program's is called; then it is not known what is pinned.
  def test_a_program_with_a_gc_of_its_own
    found = ask(<<~RUBY)
      def GC.compact = raise("not for heapline")
      def GC.start(**) = raise("not for heapline")
      all = Heapline.heap_pages.totals
      answer live: all.live_slots, garbage: all.garbage_slots, pinned: all.pinned_slots
    RUBY
    assert_nil found[:pinned]
    assert_operator found[:live], :>, 1000
    assert_operator found[:garbage], :>=, 0
  end

  # Up to 3.4 a GC in the copy would wait for them.
  def test_other_ractors
    found = ask(<<~RUBY)
      Warning[:experimental] = false
      ractor = Ractor.new { Ractor.receive }
      begin
        answer live: Heapline.heap_pages.totals.live_slots
      rescue Heapline::Error => error
        answer error: error.message
      end
      ractor.send(nil)
    RUBY
    if RUBY_VERSION >= "4"
      assert_operator found[:live], :>, 1000
    else
      assert_match(/other Ractors/, found[:error])
    end
  end
end

# `heapline pages PID`.
class HeapPagesCommandTest < Minitest::Test
  include Accounted

  PROGRAM = <<~RUBY.freeze
    #{HeapPagesTest::PLANT}
    puts PLANTED.size
    $stdout.flush
    loop { sleep 0.005; "x" * 50 }
  RUBY

  FREEING = <<~RUBY
    20.times do
      Thread.new { Array.new(2_000_000) { Object.new }.size }.join # no stack has it any more
      4.times { GC.start }
      break if GC.stat(:total_freed_pages) > 10
    end
    GC.disable
    puts GC.stat(:total_freed_pages)
    $stdout.flush
    sleep
  RUBY

  def test_another_process_is_asked
    pid, planted = start(program(PROGRAM), "--objects")
    out, err, status = heapline("pages", "--json", *PATIENTLY, "--below", "50", pid.to_s)
    assert_equal [0, true], [status.exitstatus, err.lines.all?(/it answers at its next allocation/)], err
    data = JSON.parse(out)
    keeper = data["sparse"]["holders"].find { |holder| holder["class"] == "Keeper" }
    assert_in_delta planted.to_i, keeper["pages"], 3
    assert_match(/program\.rb:#{HeapPagesTest::LINE - 1}\z/, keeper["location"])
    assert_equal data["totals"]["pages"], data["pages"].size
    out, = heapline("pages", *PATIENTLY, pid.to_s)
    assert_match(/^ +\d+ +\d+ +\d+  Keeper +#{Regexp.escape(path("program.rb"))}:\d+$/, out)
  end

  # How long pages lived that it gave back is still known when it is dead.
  def test_what_was_freed_outlives_the_process
    pid, freed = start(program(FREEING))
    stop(pid)
    lifespans = Heapline::Accounting::Flight.header(flight_files.fetch(0))[:page_lifespans]
    assert_equal freed.to_i, lifespans[:count]
    assert_operator lifespans[:count], :>, 10
    assert_operator lifespans[:squares], :>=, lifespans[:sum]
  end
end
