# frozen_string_literal: true

require "test_helper"
require "heapline/replay/allocator"
require "heapline/replay/settings"

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
