# frozen_string_literal: true

require_relative "../../terminal/display_width"
require_relative "../../figures/units"

module Heapline
  module Top
    class Screen
      # The last line: what the table is made of, and the keys that are needed most.
      class Footer
        # One of them, and several.
        NOUNS = { overview: %w[line lines], location: %w[line lines], object: %w[line lines], gem: %w[gem gems],
                  file: %w[file files], library: %w[library libraries], tag: %w[tag tags],
                  class: %w[class classes] }.freeze
        PROCESSES = %w[process processes].freeze
        KEYS = "? keys  q quit"

        def initialize(view, scene, rows, terminal)
          @view = view
          @scene = scene
          @rows = rows
          @terminal = terminal
        end

        def line
          left = @view.typing ? "filter: #{pattern}_   Enter keeps it, Esc drops it" : what
          room = @terminal.width - KEYS.length - 2
          return left if room < Terminal::DisplayWidth.of(left)

          Terminal::DisplayWidth.fill(left, @terminal.width - KEYS.length) + @terminal.style(KEYS, :dim)
        end

        private

        def what
          return @scene.message if @scene.message

          [count, within, filter, back].compact.join(@terminal.sign(" · "))
        end

        def count
          one, several = @view.page == :processes ? PROCESSES : NOUNS.fetch(@view.by)
          "#{Units.count(@rows.size)} #{@rows.size == 1 ? one : several}"
        end

        def within
          return nil unless @view.within

          key, name = @view.within
          "of #{key} #{@terminal.inert(name || Accounting::Snapshot::UNNAMED.fetch(key))}"
        end

        def filter
          "filter: #{pattern}" unless pattern.empty?
        end

        def pattern
          @terminal.inert(@view.pattern.to_s)
        end

        def back
          "Esc goes back" if @view.back
        end
      end
    end
  end
end
