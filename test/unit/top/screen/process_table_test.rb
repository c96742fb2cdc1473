# frozen_string_literal: true

require "test_helper"
require "support/scenes"

module Heapline
  module Top
    class Screen
      class ProcessTableTest < Minitest::Test
        include Scenes

        def test_one_line_a_process
          lines = ProcessTable.new(fleet_scene.rows, columns: Columns::PROCESSES, sort: :rss, terminal: terminal(120),
                                                     dispensable: Columns::LEAST).lines
          assert_match(%r{    pid +RSS▼ +growth +live +live/s +alloc/s  command$}, lines[0])
          assert_match(%r{   4711 +90.00 MB +86.52 MB +86.52 MB  \+500.00 kB +2.90 MB  puma 6.4}, lines[1])
          assert_match(/  stopped  sidekiq \\x1B\[2J$/, lines[2])
        end
      end
    end
  end
end
