# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "heapline/corefile/core_heap"

class CoreHeapTest < Minitest::Test
  # A core whose objects find no room.
  class Full
    def write_heap(_file, contents:)
      raise Heapline::Error, "the objects cannot be written: #{contents}"
    end
  end

  # The variable is this process's while the block runs.
  def with_tmpdir(directory)
    saved = ENV.fetch("TMPDIR", nil)
    ENV["TMPDIR"] = directory
    yield
  ensure
    ENV["TMPDIR"] = saved
  end

  def test_a_full_disk_is_told_with_its_directory
    Dir.mktmpdir do |directory|
      { directory => directory, nil => "/var/tmp" }.each do |set, told|
        error = with_tmpdir(set) do
          assert_raises(Heapline::Error) { Heapline::Corefile::CoreHeap.new(Full.new, name: "core").dominators }
        end
        assert_equal "the objects cannot be written: false; make room in #{told}, or set TMPDIR to another directory",
                     error.message
      end
    end
  end
end
