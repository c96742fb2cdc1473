# frozen_string_literal: true

module Heapline
  module Top
    class Screen
      # What the watcher chose to see. A frozen plain value; a key makes another one out of it.
      #
      # page::    :processes, :sites or :detail
      # sort_key:: key of a Column of that page
      # by::      :overview (lines; start-up and loading are one each), :location, :gem, :file, :library or :tag; of
      #          Ruby objects :class or :object (a class at a line)
      # within::  [key, name]: only the sites of that group; or nil
      # pattern:: text that must stand in a row; or nil
      # typing::  is the pattern being typed?
      # cursor::  [name] of the marked row; nil: the first, whichever that is
      # help::    are the keys shown?
      # paused::  does the screen stand still?
      # merged::  do the processes count that were forked from it?
      # back::    the View from which this one was entered; or nil
      View = Struct.new(:page, :sort_key, :by, :within, :pattern, :typing, :cursor, :help, :paused, :merged, :back,
                        keyword_init: true) do
        def initialize(page: :sites, sort_key: :growth, by: :overview, merged: true, **others)
          super
          freeze
        end

        # A copy with other fields.
        def with(**changes)
          self.class.new(**to_h, **changes)
        end

        # Are Ruby objects looked at, and not what malloc counts?
        def objects?
          %i[class object].include?(by)
        end

        # The View that is entered from here: it begins at the first row, without a pattern.
        def enter(**changes)
          with(pattern: nil, cursor: nil, **changes, back: self)
        end

        # The View from which this one was entered.
        def leave
          back&.with(paused: paused, merged: merged)
        end
      end
    end
  end
end
