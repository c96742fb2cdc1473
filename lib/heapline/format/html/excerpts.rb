# frozen_string_literal: true

require_relative "../../model/source_lines"
require_relative "../inert"

module Heapline
  module Format
    class Html
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

          lines = Model::SourceLines.read(location, pid: @pid)
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
end
