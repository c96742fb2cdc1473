# frozen_string_literal: true

require "test_helper"
require "heapline/format/replay"

class ReplayFormatTest < Minitest::Test
  def test_each_name_has_its_format
    Heapline::Format::Replay::NAMES.each do |name, type|
      assert_equal type, Heapline::Format::Replay.make(name, env: {}).class.name[/\w+\z/].to_sym
    end
  end
end
