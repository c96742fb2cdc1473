# frozen_string_literal: true

require "json"
require_relative "../terminal/inert"
require_relative "sheet"

module Heapline
  module Table
    # What the formats that write one JSON object have in common.
    module JsonObject
      private

      # Write `data` (Hash) and a line end to `io`. Output is ASCII, so that it acts on no terminal. A value that is an
      # Enumerator, also in a Hash in it, is an array whose entries are made, and written, one after the other: there
      # may be a million. A Proc writes its value itself.
      def write(data, io)
        write_hash(data, io, "")
        io.write("\n")
      end

      def write_hash(data, io, indent)
        inner = "#{indent}  "
        data.each_with_index do |(key, value), index|
          io.write("#{index.zero? ? "{" : ","}\n#{inner}#{pretty(key.to_s, inner)}: ")
          case value
          when Enumerator then write_entries(value, io, inner)
          when Proc then value.call(io)
          when Hash then value.empty? ? io.write(pretty(value, inner)) : write_hash(value, io, inner)
          else io.write(pretty(value, inner))
          end
        end
        io.write("\n#{indent}}")
      end

      def write_entries(entries, io, indent)
        inner = "#{indent}  "
        count = 0
        entries.each do |entry|
          io.write("#{(count += 1) == 1 ? "[" : ","}\n#{inner}#{pretty(entry, inner)}")
        end
        io.write(count.zero? ? pretty([], indent) : "\n#{indent}]")
      end

      # Lines but the first, and empty ones, begin with `indent`.
      def pretty(value, indent)
        JSON.pretty_generate(value, ascii_only: true).gsub(/\n(?!\n)/, "\n#{indent}")
      end

      # Groups (SiteCollection#groups) the other way round: the name of each sum.
      def names_of_sums(groups)
        groups.each_with_object({}.compare_by_identity) { |(name, sum), names| names[sum] = name }
      end

      # A name as valid UTF-8; nil stays nil.
      def text(value)
        value && Inert.valid(value)
      end

      # A Time in ISO 8601, UTC, with microseconds; nil stays nil.
      def time(value)
        value&.getutc&.strftime("%Y-%m-%dT%H:%M:%S.%6NZ")
      end
    end

    # A Sheet as one JSON object, ASCII only; docs/heap-dumps.md describes each key.
    class SheetJson
      include JsonObject

      # What was read, and the version of what is said of it.
      SCHEMA_VERSIONS = { dumps: 2, captures: 3, cores: 2 }.freeze

      # read: what the files that were read are called.
      def initialize(read: :dumps)
        @read = read
      end

      # Write the object and a line end to `io`.
      def render(sheet, io)
        write(to_h(sheet), io)
      end

      # The object as a Hash.
      def to_h(sheet)
        { schema_version: SCHEMA_VERSIONS.fetch(@read), kind: sheet.kind,
          @read => sheet.dumps.map { |dump| { role: dump.role, **valid(dump.data) } },
          complete: sheet.problems.empty?, problems: sheet.problems.map { |problem| Inert.valid(problem) },
          **parts(sheet.parts) }
      end

      private

      # What they say, how many rows of them were left out, and lists of tables of a kind.
      def parts(parts)
        several, single = parts.partition { |part| part.is_a?(Listing) && part.list }
        { **single.to_h { |part| [part.key, part.is_a?(Listing) ? rows(part) : valid(part.data)] },
          left_out: left_out(single.grep(Listing)), **lists(several) }
      end

      def lists(listings)
        listings.group_by { |one| one.list.first }.transform_values do |same|
          same.map { |one| { **valid(one.list.last), one.key => rows(one), left_out: left_out([one]) } }
        end
      end

      # Only of those that were cut.
      def left_out(listings)
        listings.to_h { |one| [one.key, one.left_out] }.select { |_, left| left&.positive? }
      end

      def rows(listing)
        listing.rows.map { |row| valid(listing.data.call(row).merge(figures(listing, row))) }
      end

      # Shares are not among them: who reads this can divide.
      def figures(listing, row)
        columns = listing.columns.reject { |column| column.unit == :share }
        columns.to_h { |column| [column.key, column.value(row)] }
      end

      # Text as valid UTF-8 and times as text, however deep they lie.
      def valid(value)
        case value
        when String then Inert.valid(value)
        when Time then time(value)
        when Hash then value.transform_values { |each| valid(each) }
        when Array then value.map { |each| valid(each) }
        else value
        end
      end
    end
  end
end
