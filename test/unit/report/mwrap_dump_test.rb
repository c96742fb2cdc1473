# frozen_string_literal: true

require "test_helper"
require "heapline/report/mwrap_dump"

class MwrapDumpTest < Minitest::Test
  def test_understands_mwraps_keys
    dump = Heapline::MwrapDump.new("dump_path:/tmp/a:b,dump_fd:2,dump_min:1000,dump_heap:3")
    assert_equal ["/tmp/a:b", 2, 1000, 3], [dump.path, dump.fd, dump.min, dump.heap]
    assert_predicate dump, :wanted?
  end

  def test_a_minimum_alone_dumps_nothing
    refute_predicate Heapline::MwrapDump.new("dump_min:1000"), :wanted?
    refute_predicate Heapline::MwrapDump.new("dump_path:"), :wanted?
  end

  def test_the_mask_may_leave_out_locations
    with, without = %w[3 7].map { |mask| Heapline::MwrapDump.new("dump_fd:2,dump_heap:#{mask}").locations { :written } }
    assert_equal [:written, nil], [with, without]
  end

  def test_says_what_it_does_not_understand
    _, error = capture_io { Heapline::MwrapDump.new("dump_csv:1,dump_min:many,dump_fd") }
    assert_equal ["heapline: MWRAP: dump_csv is unknown here and ignored; " \
                  "there are dump_path, dump_fd, dump_min, dump_heap",
                  "heapline: MWRAP: dump_min needs a number, not \"many\"",
                  "heapline: MWRAP: dump_fd needs a number, not nil"], error.lines.map(&:chomp)
  end

  def test_appends_to_the_path
    in_directory do |directory|
      path = File.join(directory, "log")
      2.times { write("dump_path:#{path},dump_min:5") }
      assert_equal "dumped above 5\n" * 2, File.read(path)
    end
  end

  def test_writes_to_the_descriptor_and_leaves_it_open
    reader, writer = IO.pipe
    2.times { write("dump_fd:#{writer.fileno}") }
    writer.close
    assert_equal "dumped above 0\n" * 2, reader.read
  end

  # The one that dumps waits meanwhile.
  def test_writes_to_the_descriptor_of_another_process
    in_directory do |directory|
      path = File.join(directory, "log")
      input, = IO.pipe
      pid = Process.spawn("cat", in: input, 9 => [path, "w"])
      2.times { write("dump_fd:9", pid: pid) }
      assert_equal "dumped above 0\n" * 2, File.read(path)
    ensure
      Process.kill(:KILL, pid) && Process.wait(pid) if pid
    end
  end

  def test_what_cannot_be_written_is_said
    _, error = capture_io { write("dump_path:/nonexistent/log") }
    assert_match(%r{\Aheapline: MWRAP: the dump was not written: No such file .*/nonexistent/log\n\z}, error)
    _, error = capture_io { write("dump_fd:9999") }
    assert_match(/not written: Bad file descriptor/, error)
  end

  private

  def write(text, **process)
    dump = Heapline::MwrapDump.new(text, **process)
    dump.write { |io| io.write("dumped above #{dump.min}\n") }
  end
end
