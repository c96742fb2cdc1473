# frozen_string_literal: true

require "test_helper"
require "support/scenes"
require "heapline/top/top_command"
require "heapline/top/controls"

module Heapline
  module Top
    class Screen
      class HelpTest < Minitest::Test
        include Scenes

        def test_it_fits_the_usual_terminal
          %i[sites processes].each do |page|
            lines = Help.lines(page, terminal(80))
            assert_operator lines.map(&:length).max, :<=, 80
            assert_operator lines.size, :<=, 19
          end
        end

        # What is not told cannot be found.
        def test_every_key_is_told
          controls = Controls
          { sites: controls::SITES, processes: controls::PROCESSES }.each do |page, keys|
            text = Help.lines(page, terminal(80)).join("\n")
            [*keys.keys, *controls::ACTIONS.keys, "/", "space"].each { |key| assert_match(/(?<!\S)#{key}(?!\S)/, text) }
          end
        end
      end
    end
  end
end
