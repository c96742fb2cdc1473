# frozen_string_literal: true

require_relative "../../terminal/display_width"
require_relative "../../figures/units"

module Heapline
  module Top
    class Screen
      # The last line: what the table is made of, and the keys that are needed most.
      class Footer
        NOUNS = { overview: "lines", location: "lines", gem: "gems", file: "files", library: "libraries", tag: "tags",
                  class: "classes", object: "lines" }.freeze
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
          "#{Units.count(@rows.size)} #{@view.page == :processes ? "processes" : NOUNS.fetch(@view.by)}"
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
