# frozen_string_literal: true

require "test_helper"
require "support/native_programs"

# The way into a process that was not preloaded: its words lead to our definitions while the door is open, and to what
# they led to before once it is closed. In the place of the core stands a library that counts calls.
class DoorTest < Minitest::Test
  CORE = File.expand_path("../../ext/heapline_core", __dir__)
  SOURCES = Dir["#{CORE}/{door,platform}/*.c"].push("#{CORE}/allocator/real_malloc.c").freeze
  FLAGS = %W[-O2 -std=gnu11 -D_GNU_SOURCE -fvisibility=hidden -ftls-model=initial-exec
             -I#{CORE} -I#{File.dirname(CORE)} -Wl,-z,nodelete -Wl,-z,now].freeze
  CALLS = 2000
  # Words in one library, more than the door has room for at first.
  ADDRESSES = 7001

  def counting
    NativePrograms.library("door/counting", *FLAGS, *SOURCES)
  end

  # How it is linked: words that are bound at the start and read-only afterwards; bound at the first call; and neither.
  def caller(file, *flags)
    NativePrograms.library("door/caller", *flags, file: file)
  end

  def victim(environment = {})
    caller("libfound.so")
    libraries = [counting, caller("libnow.so", "-Wl,-z,now", "-Wl,-z,relro"), caller("liblazy.so", "-Wl,-z,lazy"),
                 NativePrograms.library("door/own", "-Wl,-Bsymbolic"),
                 caller("liblater.so", "-DADDRESSES=#{ADDRESSES}", "-Wl,-z,norelro"),
                 NativePrograms.library("door/loader", "-Wl,-rpath,$ORIGIN")]
    program = NativePrograms.program("door/victim", "-ldl", "-lpthread")
    out, err, status = Open3.capture3(environment, program, *libraries)
    assert_equal ["", 0], [err, status.exitstatus], out
    out
  end

  # now, lazy, bound to its own, loaded later, and found beside who loads it
  def assert_led(output)
    assert_includes output, "counted #{CALLS} #{CALLS} 0 #{CALLS} #{CALLS}\n"
    assert_match(/^words \d+ told 4$/, output, "before and after each of two libraries goes")
    assert_operator output[/^words (\d+)/, 1].to_i, :>, ADDRESSES
    assert_match(/^left libown\.so$/, output, "what is bound to itself is named")
    assert_includes output, "missed 0 0\n"
    assert_equal ["closed 0 0", "closed 0"], output.lines(chomp: true).grep(/closed/)
  end

  def test_calls_are_led_and_left_as_they_were_beside_threads_loading_and_forks
    assert_led(victim)
  end

  # Bound at the start, so no word changes by itself.
  def test_each_word_is_afterwards_what_it_was_before
    output = victim({ "LD_BIND_NOW" => "1" })
    assert_led(output)
    assert_includes output, "same 1\n"
  end
end
