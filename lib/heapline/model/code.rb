# frozen_string_literal: true

require "json"
require "time"
require_relative "../errors"
require_relative "code_group"
require_relative "code_piece"
require_relative "gem_name"
require_relative "live_site"

module Heapline
  module Model
    # The compiled code of a process at one moment.
    class Code
      APPLICATION = "(application)"
      UNKNOWN = "(not known)"
      # What pieces are grouped by: the key of a CodePiece, and the key that a Location has in the same grouping.
      GROUPS = {
        file: [->(piece) { piece.path || UNKNOWN }, :path.to_proc],
        method: [->(piece) { [piece.path, piece.method_name || UNKNOWN, piece.method_line] }, nil],
        line: [->(piece) { piece.line ? "#{piece.path}:#{piece.line}" : UNKNOWN }, :to_s.to_proc],
        gem: [->(piece) { piece.path ? GemName.of(piece.path) || APPLICATION : UNKNOWN },
              ->(location) { location.path && (location.gem || APPLICATION) }],
        site: [->(piece) { piece.birth ? piece.birth.to_s : UNKNOWN }, :to_s.to_proc]
      }.freeze
      # "block in render", "rescue in Shop#render" → "render", "Shop#render"
      INSIDE = /\A(?:.*) in /

      attr_reader :pid, :ruby, :time, :generation, :pieces, :sites, :problems

      # text: lines that a twin wrote (ext/heapline/code.h), or those of such a dump that tell of no object. problems:
      # of the reading. Raises FlightError where they are none.
      def self.parse(text, problems: [])
        rows = text.each_line.map { |line| JSON.parse(line) }.group_by { |row| row["type"] }
        sites = rows.fetch("HEAPLINE_SITE", []).map { |row| LiveSite.of(row) }
        by_number = sites.to_h { |site| [site.number, site] }
        pieces = rows.fetch("HEAPLINE_CODE", []).map { |row| CodePiece.of(row, by_number) }
        first = rows.fetch("HEAPLINE").first
        new(pieces, sites: sites, pid: first["pid"], ruby: first["ruby"], time: Time.iso8601(first["time"]),
                    generation: first["generation"], problems: problems)
      rescue JSON::ParserError, KeyError, NoMethodError, TypeError, ArgumentError => e
        raise FlightError, "these are no lines of compiled code: #{e.message}"
      end

      # pieces: Array of CodePiece. sites: Array of LiveSite. pid, ruby, time (Time), generation (GC.count then):
      # of the process, nil where unknown. problems: Array of String: what could not be read.
      def initialize(pieces, sites: [], pid: nil, ruby: nil, time: nil, generation: nil, problems: [])
        @pieces = mark_copies(pieces)
        @sites = sites.freeze
        @pid = pid
        @ruby = ruby
        @time = time
        @generation = generation
        @problems = problems
        freeze
      end

      # A CodeGroup of all.
      def total
        CodeGroup.of(nil, pieces, [nil, nil]) unless pieces.empty?
      end

      # Array of CodeGroup, the largest first. by: a key of GROUPS.
      def groups(by)
        of_piece, = GROUPS.fetch(by)
        live = live(by)
        groups = pieces.group_by(&of_piece).map { |key, same| CodeGroup.of(key, same, live[live_key(by, key)]) }
        groups.sort_by { |group| [-group.bytes, -group.count, group.key.to_s] }
      end

      # What a dump of another process or tool does not tell: Array of Symbol: :lines, :births, :malloc.
      def lacking
        [(:lines if pieces.none?(&:line)), (:births if pieces.none?(&:birth)), (:malloc if sites.empty?)].compact
      end

      private

      # The oldest one of each place is no copy.
      def mark_copies(pieces)
        seen = {}
        oldest_first = pieces.sort_by { |piece| [piece.generation || 0, piece.address] }
        oldest_first.each do |piece|
          piece.copy = seen.key?(piece.place)
          seen[piece.place] = true if piece.place
          piece.freeze
        end
        pieces.freeze
      end

      # Hash of key => [live bytes, live objects] of malloc at the lines of each group.
      def live(by)
        return Hash.new([nil, nil].freeze) if sites.empty?

        objects = sites.any?(&:live_objects)
        sums = Hash.new([0, objects ? 0 : nil].freeze)
        sites.each do |site|
          key = location_key(by, site.location) or next
          bytes, count = sums[key]
          sums[key] = [bytes + site.live_bytes, count && (count + site.live_objects.to_i)]
        end
        sums
      end

      def location_key(by, location)
        return GROUPS.fetch(by).last.call(location) unless by == :method

        location.path && location.label && [location.path, location.label.sub(INSIDE, "")]
      end

      def live_key(by, key)
        by == :method ? key.first(2) : key
      end
    end
  end
end
