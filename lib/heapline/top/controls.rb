# frozen_string_literal: true

require_relative "screen/columns"

module Heapline
  module Top
    # What the keys do: from one View to the next. What cannot be told by a View is an action: :quit, :baseline,
    # :own_baseline, :enter_process (that of the marked row).
    class Controls
      SITES = { "g" => :growth, "l" => :live, "n" => :change, "r" => :rate, "c" => :blocks, "t" => :temporary,
                "a" => :life }.freeze
      PROCESSES = { "p" => :pid, "s" => :rss }.merge(SITES.slice("g", "l", "n", "r")).freeze
      GROUPS = { "1" => :overview, "2" => :gem, "3" => :file, "4" => :library, "5" => :tag }.freeze
      # What is in a group.
      INSIDE = { gem: :location, file: :location, library: :location, tag: :location, class: :object }.freeze
      ACTIONS = { "q" => :quit, "b" => :baseline, "B" => :own_baseline }.freeze
      MOVES = { up: -1, down: 1, "k" => -1, "j" => 1 }.freeze

      # rows: Top::Screen::Rows that are on the screen; page: rows seen at a time.
      def initialize(view, rows, page)
        @view = view
        @rows = rows
        @page = page
      end

      # [the next View, an action or nil].
      def press(key)
        return [type(key), nil] if @view.typing
        return [@view.with(help: false), nil] if @view.help
        return [@view, ACTIONS[key]] if ACTIONS.key?(key)
        return enter if %i[enter right].include?(key)

        [move(key) || choose(key) || other(key), nil]
      end

      private

      # The filter is applied while it is typed.
      def type(key)
        text = @view.pattern.to_s
        case key
        when :enter then @view.with(typing: false, pattern: text.empty? ? nil : text)
        when :escape then @view.with(typing: false, pattern: nil)
        when :backspace then @view.with(pattern: text[0...-1], cursor: nil)
        when String then @view.with(pattern: text + key, cursor: nil)
        else @view
        end
      end

      def enter
        row = @rows.current
        return [@view, nil] if row.nil? || @view.page == :detail
        return [@view.enter(page: :sites, sort_key: :growth), :enter_process] if @view.page == :processes
        return [@view.enter(by: INSIDE.fetch(@view.by), within: [@view.by, row.name]), nil] if INSIDE.key?(@view.by)

        [@view.enter(page: :detail).with(cursor: [row.name], pattern: @view.pattern), nil]
      end

      def move(key)
        row = case key
              when :home then @rows.first(1).first
              when :end then @rows.at(@rows.size)
              when :page_up then @rows.at(-@page)
              when :page_down then @rows.at(@page)
              else MOVES[key] && @rows.at(MOVES[key])
              end
        row && @view.page != :detail ? @view.with(cursor: [row.name]) : nil
      end

      # Sort and group. The mark stays with its row when the order changes, and goes to the first when the rows do.
      def choose(key)
        return nil if @view.page == :detail

        column = (@view.page == :processes ? PROCESSES : SITES)[key]
        return @view.with(sort_key: column) if column

        return nil if @view.page != :sites || @view.within
        return @view.with(by: @view.objects? ? :overview : :class, cursor: nil) if key == "o"
        return @view.with(by: :location, cursor: nil) if key == "1" && @view.by == :overview

        @view.with(by: GROUPS[key], cursor: nil) if GROUPS.key?(key)
      end

      def other(key)
        case key
        when "?", "h" then @view.with(help: true)
        when "/" then @view.page == :detail ? @view : @view.with(typing: true)
        when " " then @view.with(paused: !@view.paused)
        when "m" then @view.with(merged: !@view.merged)
        when :escape, :left, :backspace then back
        else @view
        end
      end

      # First out of the filter, then out of the page.
      def back
        return @view.with(pattern: nil) if @view.pattern && @view.page != :detail

        @view.leave || @view
      end
    end
  end
end
