# frozen_string_literal: true

require "test_helper"
require "heapline/unnamed_file"

class UnnamedFileTest < Minitest::Test
  def test_what_was_written_is_read
    file = nil
    assert_equal("\xff\x00".b, Heapline::UnnamedFile.read { |open| (file = open).syswrite("\xff\x00") })
    assert_predicate file, :closed?
    refute_path_exists file.path
  end

  def test_it_is_closed_where_something_goes_wrong
    file = nil
    assert_raises(IOError) { Heapline::UnnamedFile.read { |open| (file = open) && raise(IOError) } }
    assert_predicate file, :closed?
  end
end
