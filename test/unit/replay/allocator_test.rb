# frozen_string_literal: true

require "test_helper"
require "heapline/replay/allocator"

class ReplayAllocatorTest < Minitest::Test
  include OwnDirectory

  Allocator = Heapline::Replay::Allocator

  def test_glibc_is_always_there
    assert_equal ["glibc", nil], [Allocator.find("glibc").name, Allocator.find("glibc").path]
  end

  def test_by_name
    path = file("libjemalloc.so.2")
    found = Allocator.find("jemalloc", directories: ["/nowhere", @directory])
    assert_equal ["jemalloc", path], [found.name, found.path]
  end

  def test_what_is_missing_is_named_with_its_package
    error = assert_raises(Heapline::Error) { Allocator.find("tcmalloc", directories: [@directory]) }
    assert_equal "tcmalloc is not installed: apt-get install libtcmalloc-minimal4, dnf install gperftools-libs, " \
                 "apk add gperftools",
                 error.message
  end

  def test_all_that_are_here
    file("libmimalloc.so.2.0")
    here, missing = Allocator.all(directories: [@directory])
    assert_equal %w[glibc mimalloc], here.map(&:name)
    assert_equal(%w[jemalloc tcmalloc], missing.map { |text| text[/\w+/] })
  end

  def test_that_of_the_program_is_the_first
    file("libmimalloc.so.2.0")
    { nil => %w[glibc mimalloc], "mimalloc 2.1.2" => %w[mimalloc glibc], "jemalloc 5.3.0" => %w[glibc mimalloc],
      "" => %w[glibc mimalloc] }.each do |first, names|
      assert_equal names, Allocator.all(first: first, directories: [@directory]).first.map(&:name)
    end
  end

  def test_a_library_by_path
    path = file("my.so", File.binread("/proc/self/exe", 64))
    assert_equal ["my.so", path], [Allocator.find(path).name, Allocator.find(path).path]
  end

  def test_what_is_no_library
    machine = File.binread("/proc/self/exe", 64).tap { |bytes| bytes.setbyte(18, 0x28) }
    { "is not there" => File.join(@directory, "none.so"), "is no file" => @directory,
      "no ELF file" => file("text.so", "hello"), "is for another machine" => file("arm.so", machine),
      "a space or a colon" => file("a b.so", machine), "no such allocator: hoard" => "hoard" }.each do |words, path|
      error = assert_raises(Heapline::Error, path) { Allocator.find(path) }
      assert_includes error.message, words
    end
  end

  def test_who_reads_which_setting
    glibc = Allocator.new("glibc", nil)
    jemalloc = Allocator.new("jemalloc", "/j.so")
    own = Allocator.new("my.so", "/my.so")
    readers = %w[MALLOC_ARENA_MAX MALLOC_CONF GLIBC_TUNABLES MIMALLOC_PURGE_DELAY MY_OWN].map do |name|
      [glibc, jemalloc, own].map { |allocator| allocator.reads?(name) }
    end
    assert_equal [[true, false, true], [false, true, true], [true, false, true], [false, false, true],
                  [true, true, true]], readers
  end

  private

  def file(name, bytes = "")
    File.join(@directory, name).tap { |path| File.binwrite(path, bytes) }
  end
end

class ReplaySettingsTest < Minitest::Test
  Allocator = Heapline::Replay::Allocator

  def settings(*words)
    words.inject(Heapline::Replay::Settings.new) { |all, word| all.add(word) }
  end

  def glibc
    Allocator.new("glibc", nil)
  end

  def test_nothing_asked
    assert_equal [{}], settings.for(glibc)
  end

  def test_values_beside_none
    assert_equal [{}, { "MALLOC_ARENA_MAX" => "1" }, { "MALLOC_ARENA_MAX" => "2" }],
                 settings("MALLOC_ARENA_MAX=1,2").for(glibc)
  end

  def test_all_combinations
    found = settings("MALLOC_ARENA_MAX=1,2", "MALLOC_TRIM_THRESHOLD_=0").for(glibc)
    assert_equal [{}, { "MALLOC_ARENA_MAX" => "1", "MALLOC_TRIM_THRESHOLD_" => "0" },
                  { "MALLOC_ARENA_MAX" => "2", "MALLOC_TRIM_THRESHOLD_" => "0" }], found
  end

  # Values of MALLOC_CONF have commas of their own.
  def test_a_value_with_a_colon_is_one
    jemalloc = Allocator.new("jemalloc", "/j.so")
    asked = settings("MALLOC_CONF=narenas:2,dirty_decay_ms:0", "MALLOC_CONF=narenas:1", "MALLOC_ARENA_MAX=2")
    assert_equal [{}, { "MALLOC_CONF" => "narenas:2,dirty_decay_ms:0" }, { "MALLOC_CONF" => "narenas:1" }],
                 asked.for(jemalloc)
  end

  def test_what_is_no_setting
    ["MALLOC_ARENA_MAX", "=1", "A B=1", "X=", "LD_PRELOAD=/x.so"].each do |word|
      assert_raises(Heapline::UsageError, word) { settings(word) }
    end
  end
end
