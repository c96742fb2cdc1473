# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../places/source_lines"

module Heapline
  # @api private
  module Page
    # Texts by number, each once and inert: what the columns of a page refer to. Number 0 is none.
    class Strings
      # Array of String
      attr_reader :all

      def initialize
        @all = [""]
        @numbers = { nil => 0 }
      end

      # Number of a text; nil is none.
      def number(text)
        @numbers[text] ||= @all.push(Inert.text(text)).size - 1
      end
    end

    # The source around the lines of sites, as the page shows it. A report is handed on, and its paths come from a
    # process that may be hostile: only files that are called like Ruby source are read.
    class Excerpts
      ENDINGS = %w[.rb .ru .rake .gemspec .erb .haml .slim .builder .jbuilder .thor .rabl .arb].freeze
      LONGEST = 160 # characters of a line

      # pid: of the process while it runs, else nil.
      def initialize(pid)
        @pid = pid
      end

      # sites: Array of Site. Hash of a site's number in it => [number of the first line, Array of String].
      def of(sites)
        sites.each_with_index.to_h { |site, number| [number, excerpt(site.location)] }.compact
      end

      private

      def excerpt(location)
        return nil unless location.path && ENDINGS.include?(File.extname(location.path))

        lines = Places::SourceLines.read(location, pid: @pid)
        lines && [lines.first.number, lines.map { |line| clean(line.text) }]
      rescue ArgumentError
        nil # a path with NUL in it
      end

      def clean(text)
        text = Inert.valid(text)
        text = "#{text[0, LONGEST]}…" if text.length > LONGEST
        Inert.text(text)
      end
    end
  end
end
