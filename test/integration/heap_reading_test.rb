# frozen_string_literal: true

require "test_helper"
require "heapline/heap_dump"
require "support/heap_dumps"
require "zlib"

module Heapline
  # Dumps as they come: packed, damaged, cut short, hostile, huge, and through a pipe.
  class HeapReadingTest < Minitest::Test
    include HeapDumps

    STRING = { type: "STRING", memsize: 100 }.freeze

    def small
      Builder.new.root("vm", [1]).klass(1, "App").object(2, klass: 1, file: "app.rb", line: 3, method: "run",
                                                            generation: 7).object(3, klass: 1)
    end

    def counts(dump)
      dump.histogram.to_h { |group| [group.key, group.count] }
    end

    def zstd(text)
      IO.popen(%w[zstd -q -c], "r+b") do |io|
        io.write(text)
        io.close_write
        io.read
      end
    rescue Errno::ENOENT
      skip "no zstd"
    end

    def test_plain_gzip_and_zstd_are_told_by_their_bytes
      text = small.to_s
      { plain: text, gzip: Zlib.gzip(text), members: Zlib.gzip(text[0, 100]) + Zlib.gzip(text[100..]),
        zstd: zstd(text), frames: zstd(text[0, 50]) + zstd(text[50..]) }.each do |name, bytes|
        opened(bytes) do |dump|
          assert_equal({ "App" => 2, "(hidden CLASS)" => 1 }, counts(dump), name)
          assert_predicate dump, :complete?, dump.problems.inspect
        end
      end
    end

    def test_damaged_lines_are_named_and_the_rest_is_read
      lines = small.lines
      text = [lines[0], "GET / 200", lines[1], lines[2][0, 40] + lines[3], "", "[1]", "{}", "{\"a\":#{"[" * 5000}}",
              lines[2], "{\"address\":\"0x7f0000000001\",\"type\":\"STRING\"}", "\0\xff", lines[3]].join("\n")
      opened("#{text}\n") do |dump|
        assert_equal 3, dump.summary.objects
        refute_predicate dump, :complete?
        assert_equal [2, 4, 6, 7, 8, 10, 11].map { |number| "line #{number}: not a line of a heap dump" }, dump.problems
      end
    end

    def test_of_many_damaged_lines_the_first_are_named
      opened("#{small}#{"x\n" * 30}") do |dump|
        assert_equal ["line 5: not a line of a heap dump", "20 more such lines"], dump.problems.values_at(0, -1)
        assert_equal 11, dump.problems.size
      end
    end

    def test_a_dump_that_ends_in_the_middle
      text = small.to_s
      opened(text[0..-10]) do |dump|
        assert_equal [2, ["it ends in the middle of line 4"]], [dump.summary.objects, dump.problems]
      end
      opened(text.chomp) { |dump| assert_equal [3, []], [dump.summary.objects, dump.problems] }
      packed = Zlib.gzip(small.to_s * 2000)
      opened(packed[0, packed.bytesize / 2]) do |dump|
        assert_operator dump.summary.objects, :>, 0
        assert_equal ["its gzip data ends in the middle; what comes before it was read"], dump.problems
      end
    end

    def test_damaged_packing
      noise = Random.new(1).bytes(50_000).unpack1("H*").scan(/.{50}/).map { |hex| "#{hex}\n" }
      packed = Zlib.gzip(noise.join + small.to_s)
      packed.setbyte(packed.bytesize / 2, packed.getbyte(packed.bytesize / 2) ^ 0xff)
      error = assert_raises(Error) { opened(packed) { flunk } }
      assert_match(/is no heap dump.*gzip data is damaged/, error.message)
    end

    def test_what_is_no_dump
      { "" => /is no heap dump/, "hello\n" => /is no heap dump: it has no line/, "{}" => /is no heap dump/ }
        .each { |text, message| assert_match message, assert_raises(Error) { opened(text) { flunk } }.message }
      assert_match(/cannot be opened: No such file/, assert_raises(Error) { HeapDump.open("/nowhere/x") }.message)
      in_directory { |dir| assert_match(/is a directory/, assert_raises(Error) { HeapDump.open(dir) }.message) }
    end

    def test_text_of_any_kind
      text = Builder.new.root("vm", [2]).klass(1, "Ünï\u202eX").to_s.b
      text << %({"address":"0x7f0000000100","type":"STRING","value":"a\\u0000\\"\\n\\ud83d\\ude00","memsize":40}\n).b
      text << %({"address":"0x7f0000000200","type":"STRING",\t"file":"a\xff\x01b.rb","line":2,"memsize":40}\n).b
      opened(text, index: true) do |dump|
        assert_empty dump.problems
        assert_equal "a\0\"\n\u{1f600}", dump.object(0x7f0000000100).value
        assert_equal "a\\xFF\u0001b.rb:2", dump.object(0x7f0000000200).location
        assert_equal "Ünï\u202eX", dump.object(address(1)).name
        dump.histogram(by: :line).each { |group| assert_predicate group.key, :valid_encoding? }
      end
    end

    def test_lines_of_many_megabytes_and_values_that_are_cut
      long = "ä" * 3_000_000
      text = Builder.new.root("vm", [1]).object(1, **STRING, value: long, bytesize: long.bytesize)
                    .object(2, (3..400_000).to_a).object(3)
      opened(text, index: true) do |dump|
        object = dump.object(address(1))
        assert_predicate object, :cut?
        assert_equal ["ä" * 50, 6_000_000], [object.value, object.length]
        assert_equal 3, dump.summary.objects
        assert_equal 1, dump.references(address(2)).size
      end
    end

    def test_more_than_one_window_is_read_by_several_threads_in_order
      builder = Builder.new.root("vm", [0]).klass(0, "App")
      60_000.times { |i| builder.object(i + 1, [i], klass: 0, file: "f#{i % 7}.rb", line: i % 3, generation: i % 5) }
      opened("#{builder}oops\n", index: true, strings: true) do |dump|
        assert_equal 60_001, dump.summary.objects
        assert_equal 60_000, counts(dump)["App"]
        %i[class type line file gem generation].each do |by|
          groups = dump.histogram(by: by)
          assert_equal [60_001, dump.summary.bytes], [groups.sum(&:count), groups.sum(&:bytes)], by
        end
        assert_equal ["line 60003: not a line of a heap dump"], dump.problems
        assert_equal [1, 2, 3].map { |one| address(one) }, dump.instances_of("App", limit: 3)
      end
    end

    # Nothing that Ruby writes: it lists objects page by page.
    def test_objects_in_no_order_and_twice
      lines = small.lines
      more = (10..200).to_a.shuffle(random: Random.new(3)).map { |i| Builder.new.object(i, [3]).lines.first }
      opened((lines + more + lines).join("\n"), index: true) do |dump|
        assert_equal ["3 objects are listed twice; the first counts"], dump.problems
        assert_equal 7, dump.object(address(2)).generation
        assert_equal 191, dump.referrer_count(address(3))
        assert_equal [[3, nil]], (dump.references(address(100)).map { |ref| [number(ref.object), ref.name] })
      end
    end

    def test_sizes_beyond_32_bits
      text = Builder.new.root("vm", [1]).object(1, **STRING, memsize: 6_000_000_040, bytesize: 6_000_000_000)
      opened(text, index: true) do |dump|
        assert_equal [6_000_000_040, 6_000_000_000], dump.object(address(1)).to_h.values_at(:bytes, :length)
        assert_equal 6_000_000_040, dump.dominators.top(1).first.retained_bytes
      end
    end

    def test_free_slots_and_shapes_are_no_objects
      more = [{ address: "0x10", type: "NONE" }, { address: "0x21", type: "SHAPE", memsize: 9 }]
      opened("#{small}#{more.map { |line| JSON.generate(line) }.join("\n")}\n") do |dump|
        summary = dump.summary
        assert_equal [3, 4, 1, 9], [summary.objects, summary.slots, summary.shapes, summary.shape_bytes]
      end
    end

    def test_what_heapline_adds
      header = { type: "HEAPLINE", version: 1, pid: 42, ruby: "3.4.1", time: "2026-03-01T09:00:00Z" }
      text = "#{JSON.generate(header)}\n#{small}{\"type\":\"HEAPLINE_NEW\",\"x\":1}\n"
      opened("#{text}{\"type\":\"HEAPLINE_END\",\"lines\":0}\n", index: true) do |dump|
        assert_equal [42, "3.4.1", Time.utc(2026, 3, 1, 9), []],
                     dump.summary.to_h.values_at(:pid, :ruby, :time) + [dump.problems]
      end
      opened(text) { |dump| assert_equal ["its last line is missing: it was cut"], dump.problems }
    end

    def test_names_of_classes
      base, itself = [1, 10].map { |one| format("0x%x", address(one)) }
      text = Builder.new.klass(1, "Base").object(2, type: "CLASS", superclass: base, singleton: true)
                    .object(3, klass: 2).object(4, type: "CLASS").object(5, klass: 4).object(6, klass: 99)
                    .object(7, type: "IMEMO", imemo_type: "iseq", klass: 1).object(8, type: "ICLASS", klass: 1)
                    .object(9, type: "HASH").object(10, type: "CLASS", singleton: true, superclass: itself)
                    .object(11, klass: 10)
      opened(text, index: true) do |dump|
        names = [3, 5, 6, 7, 8, 9, 11].map { |one| dump.object(address(one)).class_name }
        assert_equal ["Base", format("#<Class:0x%016x>", address(4)), "(unknown class)", "(IMEMO iseq)", "(ICLASS)",
                      "(hidden HASH)", format("#<Class:0x%016x>", address(10))], names
        assert_equal names.sort, (counts(dump).keys - ["(hidden CLASS)"]).sort
      end
    end

    # Singleton classes lead to their class; a line of a class that is not there, or without a path, says nothing.
    def test_where_classes_are_defined
      base = format("0x%x", address(1))
      text = Builder.new.klass(1, "Base").object(2, type: "CLASS", superclass: base, singleton: true)
                    .object(3, klass: 1).object(4, klass: 2).klass(5, "Other").object(6, klass: 5)
                    .object(7, type: "IMEMO", imemo_type: "iseq", klass: 1).object(8, klass: 99).to_s
      [[1, "app.rb", 3], [99, "none.rb", 1], [5, nil, 7]].each do |one, path, line|
        text << JSON.generate({ type: "HEAPLINE_CLASS", address: format("0x%x", address(one)), path: path,
                                lineno: line }.compact) << "\n"
      end
      opened(text, index: true) do |dump|
        objects = (1..8).map { |one| dump.object(address(one)) }
        assert_equal ["app.rb:3", nil, "app.rb:3", "app.rb:3", nil, nil, nil, nil], objects.map(&:definition)
        assert_equal(["app.rb:3", nil], %w[Base Other].map { |name| dump.definition(name)&.to_s })
        assert_empty dump.problems
      end
    end

    def test_duplicate_strings
      text = Builder.new
      3.times { |i| text.object(i, **STRING, value: "x" * 300, encoding: "UTF-8") }
      2.times { |i| text.object(10 + i, **STRING, value: "", encoding: "UTF-8") }
      text.object(20, **STRING, value: "x" * 300, encoding: "US-ASCII").object(21, **STRING).object(22, **STRING)
      opened(text) do |dump|
        values = dump.duplicate_strings
        assert_equal [["x" * 200, 300, 3, 300, 200], ["", 0, 2, 200, 100]], values.map(&:to_a)
        assert_equal [true, false], values.map(&:cut?)
        assert_equal 1, dump.duplicate_strings(limit: 1).size
      end
    end

    def test_a_pipe_is_read_once
      program = 'require "heapline/heap_dump"; dump = Heapline::HeapDump.open("-", strings: true); ' \
                "p dump.summary.objects, dump.duplicate_strings.size; " \
                "begin; dump.dominators; rescue Heapline::Error => e; puts e.message; end"
      output = IO.popen([RbConfig.ruby, "-I#{LIB}", "-e", program], "r+") do |io|
        io.write(small)
        io.close_write
        io.read
      end
      assert_equal "3\n0\n- can only be read once: say first what will be asked of it\n", output
    end

    def test_a_file_that_changed_meanwhile
      in_directory do |directory|
        path = File.join(directory, "dump.json")
        File.write(path, small)
        dump = HeapDump.open(path)
        File.write(path, small.object(50))
        assert_match(/has changed/, assert_raises(Error) { dump.dominators }.message)
        assert_equal 3, dump.summary.objects
      end
    end

    def test_progress_is_told_and_an_exception_in_it_ends_the_reading
      text = small.to_s * 100_000
      seen = []
      in_directory do |directory|
        path = File.join(directory, "dump.json")
        File.write(path, text)
        HeapDump.open(path) { |done, total| seen << [done, total] }
        assert_raises(Interrupt) { HeapDump.open(path) { raise Interrupt } } if seen.any?
      end
      seen.each { |done, total| assert_operator done, :<=, total }
      assert_equal seen.sort, seen
    end

    # Nobody writes to the pipe: only the interruption ends it.
    def test_a_dump_that_was_not_read_tells_nothing
      native = HeapDump.native.new("/proc/self/status")
      %i[totals class_rows line_rows generation_rows root_rows string_rows].each do |figures|
        assert_match(/was not read/, assert_raises(Error, figures) { native.public_send(figures) }.message)
      end
    end

    def test_an_interrupted_wait_ends
      reader, writer = IO.pipe
      path = "/proc/self/fd/#{reader.fileno}"
      thread = Thread.new { HeapDump.open(path) }
      await { thread.stop? }
      thread.kill
      assert thread.join(PATIENCE), "the thread does not end"
    ensure
      reader.close
      writer.close
    end

    # While one thread reads, others run; and no two use one dump.
    def test_other_threads_run_meanwhile
      reader, writer = IO.pipe
      native = HeapDump.native.new("/proc/self/fd/#{reader.fileno}")
      thread = Thread.new { native.read(false, false, false) }
      await { thread.stop? }
      assert_match(/being read by another thread/, assert_raises(Error) { native.totals }.message)
      writer.write(small)
      writer.close
      assert thread.join(PATIENCE)
      assert_equal 3, native.totals[:objects]
    ensure
      reader.close
    end
  end
end
