# frozen_string_literal: true

require_relative "../terminal/display_width"
require_relative "screen/body"
require_relative "screen/footer"
require_relative "screen/header"
require_relative "screen/rows"
require_relative "screen/view"
require_relative "../terminal/output"
require_relative "../accounting/native_places"

module Heapline
  module Top
    # One frame of `heapline top`: lines that fill a terminal of a given size. It computes nothing but text: what was
    # counted is in a Scene, what is to be seen of it in a View.
    class Screen
      # What there is to see.
      #
      # watch::     Top::Watch of the process that is looked at; nil on the page of processes
      # rows::      rows of Top::Activity or Top::Fleet
      # source::    on the page :detail, Places::SourceLines of the marked row, or nil
      # directory:: of the process: paths in it are shown relative to it; or nil
      # message::   what the watcher was told last, or nil
      # orders::    of the rows, for each way in which they were put in order: a Hash for all Scenes with the same rows
      # functions:: Places::Functions that knows the names of the scenes before, or nil
      Scene = Struct.new(:watch, :rows, :source, :directory, :message, :orders, :functions, keyword_init: true) do
        # Rows as a View wants them.
        def ordered(view)
          self.orders ||= {}
          key = [view.page, view.sort_key, view.pattern]
          orders.shift while orders.size > 1 && !orders.key?(key)
          Rows.new(view, rows, orders[key]).tap { |made| orders[key] = made.order }
        end

        # The rows that are to be seen, native code among them with its names.
        def named(rows)
          return rows unless watch && functions

          sites = Accounting::NativePlaces.named(rows.map(&:site), of_vm: watch.now.root.ruby?, functions: functions)
          rows.zip(sites).map do |row, site|
            row.site.equal?(site) ? row : row.dup.tap { |one| one.site = site }
          end
        end
      end

      # terminal: its width is the frame's; height: in lines.
      def initialize(terminal, height:)
        @terminal = terminal
        @height = height
      end

      # The frame: at most `height` lines, none wider than the terminal.
      def lines(view, scene)
        rows = scene.ordered(view)
        head = Header.new(view, scene, @terminal).lines(head_room)
        body = Body.new(view, scene, rows, @terminal).lines([@height - head.size - 1, 0].max)
        foot = Footer.new(view, scene, rows, @terminal).line
        filled = [*head, *body].first(@height - 1)
        filled << "" while filled.size < @height - 1
        [*filled, foot].map { |line| Terminal::DisplayWidth.first(line, @terminal.width) }
      end

      # The frame for paper: no mark, no keys, and no empty lines below.
      def plain(view, scene)
        rows = scene.ordered(view)
        head = Header.new(view, scene, @terminal).lines(Header::LINES)
        [*head, *Body.new(view, scene, rows, @terminal).plain(@height)].map do |line|
          Terminal::DisplayWidth.first(line, @terminal.width).rstrip
        end
      end

      # Rows of the table that are seen at a time: what a page of the keys PgUp and PgDn is.
      def page
        [@height - head_room - 2, 1].max
      end

      private

      # The table has the larger part.
      def head_room
        (@height / 5).clamp(1, Header::LINES)
      end
    end
  end
end
