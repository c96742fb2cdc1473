# frozen_string_literal: true

require "test_helper"
require "heapline/capture"
require "support/captures"

module Heapline
  class CaptureTest < Minitest::Test
    SEEDS = 1..4

    # Yields [Capture, Oracle] for several random programs; choice: for Capture, of: for the oracle.
    def each_random(of: {}, **choice)
      SEEDS.each do |seed|
        builder = Captures.random(seed, 900)
        Captures.file(builder.to_s(every: 97)) do |path|
          yield Capture.open(path, **choice), Captures::Oracle.new(builder.events, **of), builder
        end
      end
    end

    def test_totals_peak_and_temporaries
      each_random do |capture, oracle, builder|
        assert_equal oracle.sums, capture.sums.to_a
        summary = capture.summary
        index, bytes = oracle.peak
        assert_equal bytes, summary.sums.peak_bytes
        assert_in_delta builder.events[index].time / 1e9, summary.peak_at, 1e-9
        assert_equal builder.events.size, summary.events
        assert_equal oracle.generations, summary.collections
        assert_empty capture.problems
      end
    end

    def test_a_summary_without_groups
      Captures.file(Captures.random(1, 50).to_s) do |path|
        capture = Heapline::Capture.open(path)
        whole = capture.summary
        brief = capture.summary(groups: false)
        groups = %i[threads tags libraries gems lines classes]
        assert_equal whole.to_h.except(*groups), brief.to_h.except(*groups)
        assert_empty(groups.filter_map { |group| brief[group] })
      end
    end

    def test_mappings
      each_random(mappings: true) { |capture, oracle| assert_equal oracle.sums(mappings: true), capture.sums.to_a }
    end

    # 40 kB, of which the first page, then one in the middle, then what is behind that end.
    def cut_mapping
      builder = Captures::Builder.new
      maker = [["make", "/app/make.rb", 1]]
      first = builder.birth(0, 40_960, maker, kind: :mmap)
      builder.end(1_000_000, first, kind: :munmap, stack: [["cut", "/app/cut.rb", 2]])
      rest = builder.birth(1_000_000, 36_864, maker, kind: :remains)
      5.times { builder.mark(1_500_000, :gc_start) }
      builder.end(2_000_000, rest, kind: :munmap, stack: [["cut", "/app/cut.rb", 3]])
      parts = [8192, 24_576].map { |size| builder.birth(2_000_000, size, maker, kind: :remains) }
      builder.end(3_000_000, parts.last, kind: :munmap, stack: [["cut", "/app/cut.rb", 4]])
      builder
    end

    def test_the_rest_of_a_mapping_is_not_born_again
      Captures.file(cut_mapping.to_s) do |path|
        capture = Capture.open(path, mappings: true)
        assert_equal [1, 40_960, 1, 40_960, 1, 8192, 0, 4096, 0, 32_768], capture.sums.to_a
        assert_equal([["mmap", 1, 40_960], ["munmap", 3, 32_768]], capture.summary.calls.map do |call|
          [call.function, call.calls, call.bytes]
        end)
        assert_equal [1, 40_960, 1, 40_960, 1, 8192, 0, 4096, 0, 0], table(capture, :line)["/app/make.rb:1"]
        assert_cells(capture, path, choice: { mappings: true })
        # It lives as long as its last part.
        assert_equal 40_960, Capture.open(path, mappings: true, lifespan: 5..).sums.bytes_allocated
        assert_equal 0, Capture.open(path, mappings: true, lifespan: 0..1).sums.bytes_allocated
        assert_equal 0, Capture.open(path).sums.bytes_allocated
      end
    end

    def test_by_thread_tag_and_line
      each_random do |capture, oracle|
        assert_equal oracle.by { |block| block.thread || "(unknown)" }, table(capture, :thread)
        assert_equal oracle.by { |block| block.tag || "(no tag)" }, table(capture, :tag)
        assert_equal oracle.by { |block| line(block.stack) }, table(capture, :line)
        assert_equal(oracle.by { |block| block.stack.any? ? "rack" : "(unknown)" }, table(capture, :gem))
      end
    end

    # What the page of a capture does: sums of cells by row. Ticks: from the first on, and before the second.
    def summed(cells, starts, from, to)
      all = Hash.new { |sums, row| sums[row] = [0] * 8 }
      chosen = cells.select { |_, born, *| born >= from && born < to }
      peak = peak(chosen, (from...to).reject { |tick| starts.include?(tick + 1) })
      chosen.each do |row, born, ended, temporary, *sum|
        lives = ended.nil? || ended >= to
        peaks = peak && living?(born, ended, peak)
        { 0 => true, 2 => peaks, 4 => lives, 6 => temporary && !lives }.each do |at, counts|
          2.times { |i| all[row][at + i] += counts ? sum[i] : 0 }
        end
      end
      all
    end

    # The first tick after which most of the cells' bytes live.
    def peak(cells, ticks)
      ticks.max_by do |tick|
        [cells.sum { |_, born, ended, *, bytes| living?(born, ended, tick) ? bytes : 0 }, -tick]
      end
    end

    def living?(born, ended, tick)
      born <= tick && (ended.nil? || ended > tick)
    end

    # Array of [row, tick of birth, of the end or nil, temporary?, blocks, bytes].
    def decoded(bytes)
      row = 0
      varints(bytes).each_slice(5).map do |further, born, length, blocks, size|
        row += further
        ended = length - 1 + (born >> 1) if length.positive?
        [row, born >> 1, ended, born.odd?, blocks, size]
      end
    end

    def varints(bytes)
      bytes.bytes.slice_when { |byte, _| byte < 0x80 }.map do |part|
        part.each_with_index.sum { |byte, at| (byte & 0x7f) << (7 * at) }
      end
    end

    # Every window between two spans: what is told of each stack is what the engine tells of it.
    def assert_cells(capture, path, spans: 64, windows: windows(spans), choice: {}, figures: 0..7, **options)
      stacks = capture.stacks
      width, starts, bytes = capture.cells(stacks.each_index.to_a, **options)
      assert_equal spans, starts.size - 1
      cells = decoded(bytes)
      windows.each do |from, to|
        part = Capture.open(path, from: from * width, to: (to * width if to < spans), **choice)
        allocated = part.stacks.select { |stack| stack.sums.allocations.positive? }
        expected = allocated.to_h { |stack| [stack.to_a.first(4), stack.sums.to_a] }
        found = summed(cells, starts, starts[from], starts[to]).transform_keys { |row| stacks[row].to_a.first(4) }
        assert_equal(*[expected, found].map { |sums| sums.transform_values { |row| row.values_at(*figures) } })
      end
    end

    def windows(spans)
      half = spans / 2
      [[0, spans], [0, half], [spans / 3, spans], [spans / 4, half], [spans - 1, spans], [half, half + 1],
       [spans / 8, spans / 3], [1, spans - 1]].select { |from, to| from < to }
    end

    def test_cells_tell_of_every_window_what_a_choice_of_time_does
      each_random { |capture, _, builder| Captures.file(builder.to_s) { |path| assert_cells(capture, path) } }
    end

    # Objects that are born and swept, of which some move into other slots.
    def random_objects(seed, moves:)
      random = Random.new(seed)
      builder = Captures::Builder.new
      live = []
      600.times do |at|
        time = at * 200_000
        builder.mark(time, :gc_start) if (at % 20).zero?
        if random.rand < 0.6 || live.empty?
          live << builder.object(time, 40, %w[Foo Bar].sample(random: random), [["m#{random.rand(3)}", "a.rb", 1]])
        elsif moves && random.rand < 0.4
          builder.object_resized(time, live.sample(random: random), [40, 80, 160].sample(random: random))
        else
          builder.object_freed(time, live.delete_at(random.rand(live.size)))
        end
      end
      builder
    end

    def test_cells_of_objects
      Captures.file(random_objects(6, moves: false).to_s) do |path|
        assert_cells(Capture.open(path, objects: true), path, choice: { objects: true })
      end
    end

    # Bytes are exact in every window that does not begin between birth and move; numbers are of those that were born.
    def test_cells_of_objects_that_move
      Captures.file(random_objects(6, moves: true).to_s) do |path|
        assert_cells(Capture.open(path, objects: true), path, choice: { objects: true }, figures: [0, 1, 3, 5, 7],
                                                              windows: [[0, 64], [0, 32], [0, 1]])
      end
    end

    def test_objects_beside_blocks
      Captures.file(planted_objects.to_s) do |path|
        capture = Capture.open(path, from: 0.001)
        assert_equal [:objects, 2], [capture.of_objects.kind, capture.of_objects.sums.allocations]
        assert_nil capture.of_objects.of_objects
        assert_nil Capture.open(path, mappings: true).of_objects
      end
      Captures.file(Captures.random(1, 20).to_s) { |path| assert_nil Capture.open(path).of_objects }
    end

    def test_few_cells_make_spans_longer
      each_random do |capture, _, builder|
        spans = capture.cells(capture.stacks.each_index.to_a, most: 200)[1].size - 1
        assert_operator spans, :<, 64
        Captures.file(builder.to_s) { |path| assert_cells(capture, path, spans: spans, most: 200) }
      end
    end

    def table(capture, by)
      capture.sites(by: by).to_h { |group| [group.key, group.sums.to_a] }
    end

    # As the accounting names it.
    def line(stack)
      return "(unknown)" if stack.empty?

      native = stack.last[3] && File.basename(stack.last[3])
      ruby = stack.reject { |frame| frame[3] }.last
      "#{ruby[1]}:#{ruby[2]}#{" via #{native}" if native}"
    end

    def test_a_choice_is_as_if_only_that_had_been_recorded
      each_random(thread: "worker") do |capture, oracle|
        assert_equal oracle.sums { |block| block.thread == "worker" }, capture.sums.to_a
      end
      each_random(tag: "b") do |capture, oracle|
        assert_equal oracle.sums { |block| block.tag == "b" }, capture.sums.to_a
      end
      [{ from: 200_000_000 }, { to: 300_000_000 }, { from: 100_000_000, to: 250_000_000 }].each do |time|
        each_random(of: time, **time.transform_values { |ns| ns / 1e9 }) do |capture, oracle|
          assert_equal oracle.sums, capture.sums.to_a
        end
      end
    end

    def test_by_lifespan
      [0..0, 1..3, 2.., ..1].each do |range|
        each_random(lifespan: range) do |capture, oracle|
          assert_equal oracle.sums { |block| range.cover?(block.age(oracle.generations)) }, capture.sums.to_a
        end
      end
    end

    def test_by_lifespan_in_seconds
      builder = Captures::Builder.new
      numbers = [5, 20, 300].map { |ms| [ms, builder.birth(0, ms, [])] }
      numbers.each { |ms, number| builder.end(ms * 1_000_000, number) }
      Captures.file(builder.to_s) do |path|
        assert_equal [20], [Capture.open(path, lifespan: 0.02..0.1, in_seconds: true).sums.bytes_allocated]
        assert_equal 320, Capture.open(path, lifespan: (0.02..), in_seconds: true).sums.bytes_allocated
      end
    end

    def test_stacks_and_trees
      each_random do |capture, oracle|
        by_stack = oracle.by { |block| [block.stack, block.thread, block.tag] }
        found = capture.stacks.to_h { |one| [[rows(one.frames), one.thread, one.tag], one.sums.to_a] }
        assert_equal by_stack, found
        Capture::METRICS.each_key do |metric|
          kind = Capture::METRICS.fetch(metric).first
          place = %i[allocated peak live temporary freed].index(kind) * 2
          figures = oracle.by(&:stack).transform_values { |sums| sums[place, 2] }.reject { |_, sums| sums.first.zero? }
          assert_tree figures, capture.tree(metric: metric)
          assert_tree figures.transform_keys(&:reverse), capture.tree(metric: metric, direction: :bottom_up)
        end
      end
    end

    # As by line, a row of its own: else the rows of a tree lack it.
    def test_what_has_no_stack_is_in_the_tree
      builder = Captures::Builder.new
      builder.birth(0, 200, [])
      builder.end(2_000_000, builder.birth(1_000_000, 10, [["A#a", "/app/a.rb", 7]]))
      Captures.file(builder.to_s) do |path|
        capture = Capture.open(path)
        { allocated: [[1, 200], [1, 10]], freed: [[1, 10]], live: [[1, 200]] }.each do |metric, wanted|
          Capture::DIRECTIONS.each do |direction|
            root = capture.tree(metric: metric, direction: direction)
            assert_equal [0, wanted.sum(&:last)], [root.own_bytes, root.bytes]
            assert_equal(wanted, root.children.map { |node| [node.own_count, node.own_bytes] })
            assert_equal "(unknown)", root.children.first.frame.name
          end
        end
      end
    end

    def objects_until(seconds, &)
      builder = Captures::Builder.new
      builder.object(1_000_000, 40, "Foo", [["A#a", "/app/a.rb", 7]])
      builder.birth(3_000_000_000, 10, [])
      totals = { "time_ns" => 3_000_000_000, "lost" => 0, "ending" => "exit 0",
                 "objects_until_ns" => (seconds * 1e9).to_i }
      Captures.file(builder.to_s(totals: totals), &)
    end

    # What is told of blocks is whole all the same.
    def test_objects_that_were_not_recorded_to_the_end
      objects_until(2) do |path|
        said = ["Ruby objects are recorded only up to 2.0 s: then the program began a Ractor or ZJIT, with which " \
                "this Ruby does not tell of them; their figures lack what came later, live ones may be too high"]
        objects = Capture.open(path, objects: true)
        assert_equal [said, []], [objects.problems, objects.notes]
        blocks = Capture.open(path)
        assert_equal [[], said], [blocks.problems, blocks.notes]
        assert_empty Capture.open(path, objects: true, to: 2).problems
      end
      objects_until(0) { |path| assert_empty Capture.open(path, objects: true).problems }
    end

    def rows(frames)
      frames.map { |frame| [frame.label, frame.path, frame.lineno, frame.library, frame.offset] }
    end

    # figures: Hash of stack => [count, bytes]. What has no stack is in a frame that is not known.
    def assert_tree(figures, root)
      figures = figures.transform_keys { |stack| stack.empty? ? [[nil] * 5] : stack }
      found = {}
      waiting = [[root, []]]
      until waiting.empty?
        node, path = waiting.pop
        found[path] = [node.own_count, node.own_bytes] unless node.own_count.zero?
        below = figures.select { |stack, _| stack.first(path.size) == path }.values
        assert_equal below.transpose.map(&:sum), [node.count, node.bytes] unless below.empty?
        waiting.concat(node.children.map { |child| [child, path + rows([child.frame])] })
      end
      assert_equal figures, found
    end

    # Two functions where a compiler put one into the other, and one function at two places.
    def test_frames_that_are_shown_as_others
      builder = Captures::Builder.new
      library = ->(offset) { [nil, nil, nil, "/x/liba.so", offset] }
      builder.birth(0, 30, [["main", "a.rb", 1, nil, nil], library[1]])
      builder.birth(0, 12, [["main", "a.rb", 1, nil, nil], library[2]])
      Captures.file(builder.to_s) do |path|
        Extension.load(:capture)
        native = Native::Capture.new(path)
        native.analyse(nil, nil, nil, nil, nil, :blocks, nil)
        [2, 3].each { |number| native.show(number, [100, 101]) }
        assert_equal([1, 100, 101], native.stack_rows.map(&:first).uniq.flatten)
        assert_equal([[0, 0, 42], [0, 1, 42], [1, 100, 42], [2, 101, 42]], places(native.tree_rows(:live, false)))
        assert_equal([[0, 0, 42], [0, 101, 42], [1, 100, 42], [2, 1, 42]], places(native.tree_rows(:live, true)))
        assert_raises(ArgumentError) { native.show(4, [1]) }
        assert_raises(TypeError) { native.show(2, nil) }
      end
    end

    def places(tree)
      tree.map { |parent, frame, *figures| [parent, frame, figures.last] }
    end

    def test_which_files_libraries_were
      builder = Captures::Builder.new
      builder.libraries["/x/liba.so"] = "build 12ab"
      builder.birth(0, 30, [[nil, nil, nil, "/x/liba.so", 1]])
      Captures.file(builder.to_s) do |path|
        Extension.load(:capture)
        native = Native::Capture.new(path)
        assert_equal [["/x/liba.so", "build 12ab"]], native.libraries
        assert_match(/\Afile \d+ \d+\.\d{9}\z/, native.identity(path))
        assert_nil native.identity("/none")
        capture = Capture.open(path)
        assert_equal ["liba.so+0x1"], capture.stacks.first.frames.map(&:name)
        assert_equal ["/x/liba.so is not there any more: its functions have no names"], capture.notes
      end
    end

    def test_the_timeline_adds_up
      each_random do |capture, oracle|
        [1, 7, 100].each do |points|
          moments = capture.timeline(points: points)
          assert_operator moments.size, :<=, points
          sums = oracle.sums
          assert_equal sums.first(2), [moments.sum(&:allocations), moments.sum(&:bytes_allocated)]
          assert_equal sums[3], moments.map(&:most_bytes).max
          assert_equal sums[5], moments.last.live_bytes
          assert_equal oracle.generations, moments.sum(&:collections)
        end
      end
    end

    def test_the_time_in_gc
      builder = Captures::Builder.new
      builder.header["version"] = 2
      { 1_000_000 => :gc_enter, 4_000_000 => :gc_exit, 5_000_000 => :gc_exit, 8_000_000 => :gc_enter,
        8_500_000 => :gc_exit, 10_000_000 => :gc_start }.each { |time, kind| builder.mark(time, kind) }
      Captures.file(builder.to_s) do |path|
        capture = Capture.open(path)
        assert_equal 0.0035, capture.summary.gc_seconds
        assert_equal [[0.0, 0.0], [0.001, 0.001], [0.002, 0.001], [0.003, 0.001], [0.004, 0.0]],
                     (capture.timeline.first(5).map { |moment| [moment.time, moment.gc_seconds] })
        assert_equal 0.0005, capture.timeline[8].gc_seconds
        assert_equal 0.0015, Capture.open(path, from: 0.003).summary.gc_seconds
      end
    end

    # Two pieces, with the program's own time between them; one piece in which a GC ends and another begins; a GC of
    # which the beginning is not in the recording; one whose end is not.
    def planted_collections
      builder = Captures::Builder.new
      builder.header["version"] = 2
      [[0, :gc_enter], [1, :gc_end], [2, :gc_exit],
       [10, :gc_enter], [11, :gc_start, 7], [13, :gc_exit], [20, :gc_enter], [24, :gc_end], [25, :gc_start, 8],
       [27, :gc_exit], [30, :gc_start, 9]].each { |ms, kind, size| builder.mark(ms * 1_000_000, kind, size.to_i) }
      builder
    end

    def test_each_gc
      Captures.file(planted_collections.to_s) do |path|
        capture = Capture.open(path)
        assert_equal [[8, 0.011, 0.013, 0.007, nil], [9, 0.025, nil, 0.003, nil], [10, 0.03, nil, 0.0, nil]],
                     capture.collections.map(&:to_a)
        assert_equal 3, capture.summary.collections
        assert_equal [9, 10], Capture.open(path, from: 0.02).collections.map(&:generation)
        assert_equal [8], Capture.open(path, to: 0.02).collections.map(&:generation)
      end
    end

    def test_which_line_ran_into_a_gc
      builder = Captures::Builder.new
      builder.mark(0, :gc_start, 0, stack: [["run", "a.rb", 1], ["load", "b.rb", 2]])
      builder.mark(1_000_000, :gc_start, 1, stack: [["run", "a.rb", 3], ["start", "<internal:gc>", 34]])
      builder.mark(2_000_000, :gc_start, 2, stack: [["start", "<internal:gc>", 34]])
      Captures.file(builder.to_s) do |path|
        assert_equal ["b.rb:2", "a.rb:3", nil], (Capture.open(path).collections.map { |gc| gc.frame&.place })
      end
    end

    def test_an_older_capture_tells_no_time_in_gc
      builder = Captures::Builder.new
      builder.mark(1_000_000, :gc_start)
      Captures.file(builder.to_s) do |path|
        assert_nil Capture.open(path).summary.gc_seconds
        assert_nil Capture.open(path).timeline.first.gc_seconds
        assert_equal [[1, 0.001, nil, nil, nil]], Capture.open(path).collections.map(&:to_a)
      end
    end

    # At 2 ms 40 + 40 + 80 bytes live; of Foo one dies at once, one in the second GC after its birth.
    def planted_objects
      builder = Captures::Builder.new
      builder.birth(0, 1000, [["m", "a.rb", 1]])
      first = builder.object(0, 40, "Foo", [["m", "a.rb", 1]])
      second = builder.object(1_000_000, 40, "Foo", [["m", "a.rb", 1], ["n", "b.rb", 2]])
      builder.object(2_000_000, 80, "Bar", [["m", "a.rb", 1]], thread: "main")
      builder.object_freed(3_000_000, first)
      2.times { builder.mark(3_000_000, :gc_start) }
      builder.object_freed(4_000_000, second)
      builder
    end

    def test_objects
      Captures.file(planted_objects.to_s) do |path|
        capture = Capture.open(path, objects: true)
        assert_predicate capture, :objects?
        assert_equal [3, 160, 3, 160, 1, 80, 1, 40, 2, 80], capture.sums.to_a
        assert_equal({ "Foo" => [2, 80, 2, 80, 0, 0, 1, 40, 0, 0], "Bar" => [1, 80, 1, 80, 1, 80, 0, 0, 0, 0] },
                     capture.sites(by: :class).to_h { |group| [group.key, group.sums.to_a] })
        assert_equal({ "a.rb:1" => 2, "b.rb:2" => 1 },
                     capture.sites(by: :line).to_h { |group| [group.key, group.sums.allocations] })
        assert_equal %w[Bar Foo Foo], capture.stacks.map(&:class_name).sort
        assert_equal [0.002, %w[Bar Foo], []], [capture.summary.peak_at, capture.summary.classes.map(&:key).sort,
                                                capture.summary.calls]
        assert_equal 160, capture.tree.bytes
        assert_equal 160, capture.timeline.map(&:most_bytes).max
      end
    end

    def test_objects_that_are_chosen
      Captures.file(planted_objects.to_s) do |path|
        assert_equal 2, Capture.open(path, objects: true, class_name: "Foo").sums.allocations
        assert_equal 1, Capture.open(path, objects: true, thread: "main").sums.allocations
        assert_equal 1, Capture.open(path, objects: true, lifespan: 0..0, class_name: "Foo").sums.allocations
        assert_equal 2, Capture.open(path, objects: true, from: 0.001).sums.allocations
        assert_match(/no class Baz/, assert_raises(Error) do
          Capture.open(path, objects: true, class_name: "Baz")
        end.message)
      end
    end

    def test_blocks_are_told_without_the_objects
      Captures.file(planted_objects.to_s) do |path|
        capture = Capture.open(path)
        assert_equal [1, 1000, 1, 1000, 1, 1000, 0, 0, 0, 0], capture.sums.to_a
        assert_equal [[nil], [["malloc", 1]]], [capture.stacks.map(&:class_name),
                                                (capture.summary.calls.map { |call| [call.function, call.calls] })]
        assert_equal 1, Capture.open(path, lifespan: 1..9).sums.allocations
      end
      Captures.file(Captures::Builder.new.tap { |builder| builder.birth(0, 8, []) }.to_s) do |path|
        assert_match(/record --objects/, assert_raises(Error) { Capture.open(path, objects: true) }.message)
      end
    end

    def test_an_object_that_moved_into_a_larger_slot
      builder = Captures::Builder.new
      number = builder.object(0, 40, "Foo")
      builder.object_resized(1_000_000, number, 80)
      builder.object_freed(2_000_000, number)
      Captures.file(builder.to_s) do |path|
        assert_equal [1, 120, 1, 80, 0, 0, 1, 80, 1, 120], Capture.open(path, objects: true).sums.to_a
      end
    end

    def test_a_later_version
      builder = Captures::Builder.new
      builder.header["version"] = 4
      Captures.file(builder.to_s) do |path|
        assert_match(/of version 4; this heapline reads versions 1 to 3/,
                     assert_raises(Error) { Capture.open(path) }.message)
      end
    end

    def test_an_earlier_version_does_not_tell_who_freed
      each_random { |capture, _| assert_predicate capture, :tells_frees? }
      [1, 2].each do |version|
        builder = Captures.random(1, 1000)
        oracle = Captures::Oracle.new(builder.events)
        builder.header["version"] = version
        Captures.file(builder.to_s) do |path|
          capture = Capture.open(path)
          refute_predicate capture, :tells_frees?
          assert_equal oracle.sums, capture.sums.to_a
        end
      end
    end

    def test_who_freed
      builder = Captures::Builder.new
      block = builder.birth(0, 100, [["make", "a.rb", 1]])
      builder.end(1_000_000, block, stack: [["drop", "b.rb", 2], ["free", nil, nil, "libfoo.so", 8]])
      swept = builder.birth(2_000_000, 30, [["make", "a.rb", 1]])
      builder.end(3_000_000, swept, stack: [["run", "c.rb", 3], ["(GC)"]])
      Captures.file(builder.to_s) do |path|
        capture = Capture.open(path)
        assert_equal({ "b.rb:2 via libfoo.so" => 100, "(GC)" => 30 }, freed(capture.sites(by: :line)))
        assert_equal({ "(application)" => 100, "(GC)" => 30 }, freed(capture.sites(by: :gem)))
        tree = capture.tree(metric: :freed, direction: :bottom_up)
        assert_equal(%w[free (GC)], tree.children.map { |node| node.frame.label })
      end
    end

    def freed(groups)
      groups.to_h { |group| [group.key, group.sums.bytes_freed] }.reject { |_, bytes| bytes.zero? }
    end

    def test_calls_sizes_and_lifespans
      builder = Captures::Builder.new
      block = builder.birth(0, 100, [])
      builder.birth(0, 0, [], kind: :calloc)
      builder.change(0, block, 300, [])
      builder.mark(0, :gc_start)
      builder.mark(0, :gc_start)
      builder.end(5000, block)
      builder.older(5000)
      builder.birth(6000, 4096, [], kind: :mmap)
      Captures.file(builder.to_s) do |path|
        summary = Capture.open(path).summary
        calls = summary.calls.to_h { |call| [[call.function, call.release], [call.calls, call.bytes]] }
        assert_equal({ ["mmap", false] => [1, 4096], ["realloc", false] => [1, 300], ["malloc", false] => [1, 100],
                       ["calloc", false] => [1, 0], ["free", true] => [2, 300] }, calls)
        assert_equal({ 0..0 => 1, 64..127 => 1, 256..511 => 1 },
                     summary.sizes.to_h { |bucket| [bucket.range, bucket.blocks] }.reject { |_, count| count.zero? })
        assert_equal [[0..0, 1, 100], [1..1, 0, 0], [2..3, 1, 300]], summary.ages.map(&:to_a)
      end
    end

    def test_what_a_capture_says_of_itself
      builder = Captures::Builder.new
      builder.birth(2_000_000_000, 8, [["m", "a.rb", 1]], thread: "main")
      builder.samples.push([1_000_000, 50, 20, 1], [2_000_000_000, 60, 0, 2])
      Captures.file(builder.to_s) do |path|
        summary = Capture.open(path).summary
        assert_equal [["ruby"], "ruby 3.4.1", "glibc 2.41", 4711, "exit 0"],
                     [summary.command, summary.ruby, summary.allocator, summary.pid, summary.ending]
        assert_equal [2.0, 2.0], [summary.seconds, summary.peak_at]
        assert_equal Time.at(1_700_000_000), summary.started_at
        moments = Capture.open(path).timeline(points: 2)
        assert_equal [[50, 20], [60, nil]], (moments.map { |moment| [moment.rss, moment.heap_bytes] })
      end
    end

    def test_what_was_lost_is_a_problem
      builder = Captures::Builder.new
      builder.birth(0, 8, [])
      builder.mark(0, :lost, 5)
      bytes = builder.to_s(totals: nil)
      Captures.file(bytes) do |path|
        assert_match(/it has no end/, Capture.open(path).problems.first)
        assert_match(/5 events were lost/, Capture.open(path).problems.last)
      end
      Captures.file(bytes[0..-2]) { |path| assert_match(/the file ends in it/, Capture.open(path).problems.first) }
    end

    def test_a_block_of_events_that_is_damaged
      builder = Captures::Builder.new
      numbers = Array.new(10) { builder.birth(0, 8, []) }
      numbers.each { |number| builder.end(0, number) }
      bytes = builder.to_s(every: 10)
      place = bytes.index("\x01".b * 10) || flunk
      bytes.setbyte(place, 2)
      Captures.file(bytes) do |path|
        capture = Capture.open(path)
        assert_match(/is left out/, capture.problems.first)
        assert_match(/10 blocks ended that were never seen to begin/, capture.problems.last)
        assert_equal 0, capture.sums.allocations
      end
    end

    def test_names_that_are_not_there
      builder = Captures::Builder.new
      builder.birth(0, 8, [], thread: "main", tag: "a")
      Captures.file(builder.to_s) do |path|
        assert_match(/no thread x.*there are main/, assert_raises(Error) { Capture.open(path, thread: "x") }.message)
        assert_match(/no tag x.*there are \(no tag\), a/, assert_raises(Error) { Capture.open(path, tag: "x") }.message)
        assert_equal 1, Capture.open(path, thread: "100").sums.allocations
      end
    end

    def test_what_is_no_capture
      Captures.file("{}") { |path| assert_match(/is no capture/, assert_raises(Error) { Capture.open(path) }.message) }
      assert_match(/cannot be opened/, assert_raises(Error) { Capture.open("/nonexistent") }.message)
      assert_match(/is no file/, assert_raises(Error) { Capture.open(File::NULL) }.message)
    end

    def test_progress_ends_at_the_whole
      Captures.file(Captures.random(1, 1000).to_s) do |path|
        told = []
        Capture.open(path) { |done, total| told << [done, total] }
        assert_includes [nil, [File.size(path)] * 2], told.last, "what is quick tells nothing"
      end
    end
  end
end

class CaptureLossesTest < Minitest::Test
  def test_what_was_lost
    assert_equal ["7 events were lost while it was recorded: all figures lack them, and live and peak figures may " \
                  "also be too high"], Heapline::Capture.losses(7)
  end

  def test_nothing_was_lost
    assert_empty Heapline::Capture.losses(0)
  end
end
