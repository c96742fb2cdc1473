# frozen_string_literal: true

module Heapline
  module Table
    # What a command that reads heap dumps or code answers: text, JSON and CSV are made of it.
    #
    # kind::     what was asked, in JSON
    # title::    the command, for people
    # dumps::    Array of Dump: what was read
    # parts::    Array of Listing and Statement, in the order in which they are shown
    # problems:: Array of String: what could not be read
    Sheet = Struct.new(:kind, :title, :dumps, :parts, :problems, keyword_init: true)

    # role:: "before" …, nil where there is one only; name:: of the file or process; facts:: what it is, in words
    # (Array of Strings, not inert); data:: what it is in JSON (Hash)
    Dump = Struct.new(:role, :name, :facts, :data, keyword_init: true) do
      # Array of Strings: "Ruby 3.4.1" of a description of Ruby, and a Time, as far as they are known.
      def self.origin(ruby, pid, time)
        [ruby && "Ruby #{ruby[/\A(?:ruby )?(\S+)/, 1]}", pid && "pid #{pid}",
         time&.getlocal&.strftime("%Y-%m-%d %H:%M:%S")].compact
      end
    end

    # A table.
    #
    # key::     its name in JSON
    # title::   nil where it is the only one
    # rows::    in the order in which they are shown
    # total::   how many there are in all; nil: not known
    # columns:: Array of Figures::Columns::Column
    # sorted::  key of the column that is marked, or nil
    # name::    title of the last column
    # label::   called with a row, returns a Label
    # data::    called with a row, returns what names it in JSON and CSV (Hash)
    # list::    of one of several tables of a kind: the name of their list in JSON, and what names this one (Hash)
    Listing = Struct.new(:key, :title, :rows, :total, :columns, :sorted, :name, :label, :data, :list,
                         keyword_init: true) do
      # How many rows are not shown; nil: not known.
      def left_out
        total && (total - rows.size)
      end
    end

    # What names a row for people: text:: words, which lose their end where there is no room; place:: "path:line",
    # which loses its beginning; each may be nil.
    Label = Struct.new(:text, :place, keyword_init: true)

    # Words in a row. key:: and data:: its name and value in JSON; parts:: Strings and Labels; separator:: what stands
    # between them.
    Statement = Struct.new(:key, :title, :parts, :separator, :data, keyword_init: true)
  end
end
