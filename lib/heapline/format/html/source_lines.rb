# frozen_string_literal: true

require_relative "../inert"

module Heapline
  module Format
    class Html
      # Lines of source around the lines of sites, read from the disk where they can be. Paths come from a process that
      # may be hostile: only what looks like Ruby source is read, never a device or a pipe, and no more than shown.
      class SourceLines
        AROUND = 2 # lines before and after
        LONGEST = 200 # characters of a line
        LARGEST = 2 * 1024 * 1024 # bytes of a file
        ENDINGS = %w[.rb .ru .rake .gemspec .erb .haml .slim .builder .jbuilder .thor .rabl .arb].freeze
        SHEBANG = /\A#!.*\bruby/n

        # sites: Array of Site. Hash of a site's number in it => [number of the first line, Array of lines].
        def of(sites)
          places = sites.each_with_index.select { |site, _| readable_place?(site.location) }
          places.group_by { |site, _| site.location.path }.each_with_object({}) do |(path, members), found|
            lines = read(path)
            members.each { |site, number| found[number] = excerpt(lines, site.location.lineno) } if lines
          end.compact
        end

        private

        def readable_place?(location)
          location.path && location.lineno.to_i.positive? && !location.path.include?("\0")
        end

        # Array of the file's lines (bytes), or nil.
        def read(path)
          File.open(path, File::RDONLY | File::NONBLOCK | File::NOCTTY) do |file|
            return nil unless file.stat.file? && file.stat.size <= LARGEST

            text = file.read(LARGEST).to_s
            text.b.lines if ENDINGS.include?(File.extname(path)) || text.b.match?(SHEBANG)
          end
        rescue SystemCallError, ArgumentError
          nil
        end

        # nil where the file has no such line: it is not the file that ran.
        def excerpt(lines, number)
          return nil if number > lines.size

          first = [number - AROUND, 1].max
          [first, lines[(first - 1)..(number - 1 + AROUND)].map { |line| clean(line) }]
        end

        def clean(line)
          text = Inert.valid(line.chomp.byteslice(0, 4 * LONGEST)).gsub("\t", "  ")
          text = "#{text[0, LONGEST]}…" if text.length > LONGEST
          Inert.text(text)
        end
      end
    end
  end
end
