# frozen_string_literal: true

require "test_helper"
require "stringio"
require "zlib"
require "heapline/files/input"

class InputTest < Minitest::Test
  include OwnDirectory

  Input = Heapline::Input

  def test_all_of_a_file
    assert_equal ["one\n", "one\n".b], [Input.text(file("one\n")), Input.bytes(file("one\n"))]
    assert_equal ["", Encoding::UTF_8], [Input.text(file("")), Input.text(file("")).encoding]
    assert_equal "a\ufffdb", Input.text(file("a\xffb"))
  end

  def test_more_than_there_may_be
    assert_equal "x is larger than 1 MB, the most that heapline reads of such a file", (refusal do
      Input.new(StringIO.new("a" * (2 << 20)), "x").all(1 << 20)
    end)
    assert_match(/is larger than 1 MB/, refusal { Input.bytes(file(Zlib.gzip("\0" * (9 << 20))), most: 1 << 20) })
  end

  def test_what_is_neither_a_file_nor_a_pipe
    assert_equal "/dev/zero is a device: give a file", (refusal { Input.bytes("/dev/zero") })
    assert_equal "#{@directory} is a directory", (refusal { Input.bytes(@directory) })
    assert_equal "/none cannot be opened: No such file or directory", (refusal { Input.bytes("/none") })
    assert_match(/null byte/, refusal { Input.bytes("a\0b") })
    assert_match(%r{\A/proc/self/mem cannot be read: }, refusal { Input.bytes("/proc/self/mem") })
  end

  def test_a_pipe
    File.mkfifo(place("pipe"))
    assert_match(/is a pipe, and nobody writes to it/, refusal { Input.bytes(place("pipe"), patience: 0.01) })
    assert_match(/is a pipe: give a file/, refusal { Input.bytes(place("pipe"), pipe: false) })
    writer = Thread.new { File.binwrite(place("pipe"), Zlib.gzip("one" * 100_000)) }
    assert_equal "one" * 100_000, Input.bytes(place("pipe"))
    writer.join
  end

  def test_a_pipe_whose_writer_is_slow
    IO.pipe do |reader, writer|
      found = Thread.new { Input.bytes("/dev/fd/#{reader.fileno}", patience: 0.01) }
      writer.write("one")
      await { found.stop? }
      writer.write("two")
      writer.close
      assert_equal "onetwo", found.value
    end
  end

  def test_packed
    text = "line\n" * 100_000
    [Zlib.gzip(text), Zlib.gzip(text) + ("\0" * 3000), Zlib.gzip(text[0, 7]) + Zlib.gzip(text[7..]),
     zstd(text)].each do |bytes|
      assert_equal text, Input.bytes(file(bytes))
    end
    assert_equal text, Input.new(StringIO.new(Zlib.gzip(text)), "x").all(1 << 20)
    assert_match(/x is packed and not a regular file/, refusal { Input.new(StringIO.new(zstd(text)), "x").chunk })
  end

  # What lies before the damage is there.
  # 64 kB of gzip can stand for 64 MB.
  def test_what_is_packed_very_small_comes_in_parts
    input = Input.new(StringIO.new(Zlib.gzip("\0" * (64 << 20))), "x")
    sizes = []
    while (bytes = input.chunk)
      sizes << bytes.bytesize
    end
    assert_equal 64 << 20, sizes.sum
    assert_operator sizes.max, :<=, 8 << 20
  end

  def test_packed_and_damaged
    whole = Zlib.gzip(Random.new(1).bytes(300_000))
    { whole[0..-9] => /is cut short: its gzip data ends/, whole.dup.tap do |bytes|
      bytes.setbyte(200_000, 0)
    end => /is damaged in its/,
      zstd(Random.new(1).bytes(300_000))[0..-9] => /is damaged in its zstd data/ }.each do |bytes, message|
      read = 0
      Input.open(file(bytes)) do |input|
        assert_match message, (refusal { read += input.chunk.bytesize while true }) # rubocop:disable Style/InfiniteLoop
      end
      assert_operator read, :>, 100_000
    end
  end

  def test_parts_of_a_file
    path = file("0123456789")
    assert_equal %w[01 0123456789], [Input.beginning(path, 2), Input.beginning(path, 20)]
    assert_equal ["", ""], [Input.beginning(@directory, 2), Input.beginning("/dev/zero", 2)]
    Input.open(path) do |input|
      assert_equal %w[89 0123456789 234], [input.ending(2), input.ending(50), input.at(2, 3)]
      assert_match(/cut short/, refusal { input.at(8, 3) })
      assert_match(/cannot be read at byte/, refusal { input.at(1 << 70, 3) })
      assert_equal [10, 0], [input.size, input.position]
    end
  end

  def test_a_copy_is_of_what_lies_there
    bytes = Zlib.gzip("x")
    io = StringIO.new("".b)
    Input.open(file(bytes)) { |input| input.copy(io) }
    assert_equal bytes, io.string
  end

  private

  def place(name)
    File.join(@directory, name)
  end

  def file(bytes)
    place("file").tap { |path| File.binwrite(path, bytes) }
  end

  def zstd(bytes)
    skip "zstd is not there" unless system("zstd", "--version", out: File::NULL, err: File::NULL)
    File.binwrite(place("packed"), bytes)
    IO.popen(["zstd", "-q", "-c", place("packed")], "rb", &:read)
  end

  def refusal(&)
    assert_raises(Heapline::InputError, &).message
  end
end
