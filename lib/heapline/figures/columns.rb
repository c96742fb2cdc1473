# frozen_string_literal: true

require_relative "units"

module Heapline
  module Figures
    # Columns of tables.
    module Columns
      # title; figure: method of what a row is of, by which is sorted, or a Proc that takes it; unit of its text, or
      # words: a Proc that makes the text of a row. least: columns of the screen that it takes at least; the title and
      # the figures say the rest. help: what it is, a sentence without its full stop; rank: what goes first where a page
      # is narrow has the last one. of: the figure that a share is of, or a mean.
      Column = Struct.new(:key, :title, :figure, :unit, :words, :least, :help, :rank, :of, keyword_init: true) do
        # nil: it is not known.
        def value(site)
          figure.to_proc.call(site)
        end

        def text(site)
          return words.call(site) if words

          figure = value(site)
          figure.nil? || (unit == :generations && site.frees.zero?) ? "-" : print(figure)
        end

        # The column of a share: what part each row's figure is of this whole.
        def share(whole)
          part = of.to_proc
          self.class.new(**to_h, figure: ->(row) { part.call(row) / [whole, 1].max.to_f })
        end

        # What the scripts of a page have of a column: how it is called and printed, and by which name its figures stand
        # in the data. per: what they are divided by; a share without it is one of the whole that the page tells of.
        def declared
          { key: key, title: title, unit: unit, rank: rank, figure: of || key, per: nil, help: help }
        end

        # A figure of this column's unit.
        def print(figure)
          case unit
          when :bytes then Units.bytes(figure)
          when :growth then Units.signed(figure)
          when :rate, :change then rate(figure.round)
          when :share then format("%.1f %%", 100.0 * figure)
          when :percent then "#{(100 * figure).round} %"
          when :generations then format("%.1f", figure)
          when :seconds then format("%.3f s", figure)
          when :duration then Units.duration(figure)
          when :name then figure.to_s
          else Units.count(figure.round)
          end
        end

        private

        # A second.
        def rate(bytes)
          return "0" if bytes.zero?

          unit == :change ? Units.signed(bytes) : Units.bytes(bytes)
        end
      end

      # What another table tells of the place of a row: a figure by the place's name.
      class Joined < Column
        # rows: those of this table. others: the SiteCollection of the other one. by: both tables' group, or nil.
        def initialize(rows, others, by: nil, **fields)
          super(**fields)
          @figures = by ? others.sums(by).to_h { |site| [site.location.to_s, of(site)] } : lines(rows, others)
        end

        def value(site)
          @figures.fetch(site.location.to_s, 0)
        end

        private

        def of(site)
          site.public_send(figure)
        end

        # Only the lines that are shown: there may be 100,000 others.
        def lines(rows, others)
          figures = rows.to_h { |row| [row.location.to_s, 0] }
          paths = rows.to_h { |row| [row.location.path, true] }
          others.each do |site|
            name = site.location.to_s if paths.key?(site.location.path)
            figures[name] += of(site) if figures.key?(name)
          end
          figures
        end
      end

      # What is declared of a figure, once for all formats.
      #
      # figure::  its name: a method of sites, and its key in JSON and CSV unless `data` is another
      # unit::    :bytes, :count, :generations or :milliseconds
      # objects:: what it is of Ruby objects, where it is something else than `help`
      # key::     of a table's column: what --sort takes; nil: no column
      # title::   of that column; place:: which one it is, from the left
      # per::     of a mean: by which number the figure `of` is divided. Nothing to add up
      # part::    the page shows its column as a part of this figure
      # longest:: not added up over sites: the largest counts
      # page::    is it among the figures of a site in the page?
      # log::     where a growth log has it: :site (of a site or class), :totals
      # metric::  [type, name without prefix and unit] in Prometheus; largest:: name of that of the largest sites
      # sample::  its type in pprof
      class Figure < Column
        ABOUT = %i[data objects place per part longest page log metric largest sample].freeze
        attr_reader(*ABOUT)

        def initialize(**fields)
          super(**fields.except(*ABOUT))
          { data: figure, page: !fields.key?(:per), **fields.slice(*ABOUT) }.each do |name, value|
            instance_variable_set("@#{name}", value)
          end
          freeze
        end

        # As JSON and CSV have it.
        def plain(site)
          per ? value(site).round(3) : value(site)
        end

        # As a growth log has it: how long freed blocks lived is not known before the first is freed.
        def logged(site)
          plain(site) unless %i[generations milliseconds].include?(unit) && site.frees.zero?
        end

        def declared
          { **super, unit: part ? :share : unit, figure: of || figure, per: per || part,
                     help: [help, objects && "of Ruby objects #{objects}"].compact.join("; ") }
        end
      end
    end
  end
end
