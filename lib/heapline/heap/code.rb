# frozen_string_literal: true

require "time"
require_relative "../places/location"
require_relative "../figures/units"
require_relative "../files/json_value"
require_relative "../table/sheet"

module Heapline
  module Heap
    # One piece of compiled code: an instruction sequence, of a method, a block, a class's body, a file. Unknown is nil.
    #
    # address::     Integer, of the internal object
    # path::        as __FILE__ has it, or as eval was told; nil where a dump does not tell
    # line, column:: where it begins
    # label::       "block in render"; method_name:: the method (or else what has its base label) around it,
    #               "Shop#render"; method_line:: where that begins
    # bytes::       memsize: the slot, and all that it has outside of it
    # reached::     does a method of a class or module lead to it?
    # birth::       Location of the line that had it compiled; generation:: GC.count then
    # copy::        is it compiled again, another one of the same place being older?
    CodePiece = Struct.new(:address, :path, :line, :column, :label, :method_name, :method_line, :bytes, :reached,
                           :birth, :generation, :copy, keyword_init: true) do
      # row: a line of the type HEAPLINE_CODE (JsonValue); sites: Hash of number => LiveSite.
      def self.of(row, sites)
        new(address: row.address("address"), path: row.text?("path"), line: row.number?("line"),
            column: row.number?("column"), label: row.text?("label"), method_name: row.text?("method"),
            method_line: row.number?("method_line"), bytes: row.number("bytes"), reached: row.number?("reached") == 1,
            birth: sites[row.number?("site")]&.location, generation: row.number?("generation"))
      end

      # As Native::HeapDump#code_rows has it. path and labels: nil where the dump does not tell.
      def self.of_row(address, path, label, base_label, bytes, file, line, generation)
        new(address: address, path: path, label: label, method_name: base_label, bytes: bytes,
            birth: file && Places::Location.new(path: file, lineno: line), generation: generation)
      end

      # What all copies have in common; nil where that cannot be told: without lines two blocks look alike.
      def place
        [path, line, column, label] if path && (line || label == method_name)
      end
    end

    # Pieces of code that have something in common.
    #
    # key::       what: see Code::GROUPS
    # count::     pieces; bytes:: their memsize
    # copies::    of these, those that were compiled again: see CodePiece#copy; copy_bytes:: theirs
    # unreached:: of these, those that no method leads to; nil: unknown
    # oldest, newest:: generation in which the first and the last of them was compiled; nil: unknown
    # live_bytes:: of malloc, at the lines of the same file, method …; live_objects:: Ruby objects; nil: unknown
    # example::   address of the copy that has been there longest, where possible of one that a method leads to: what
    #             none leads to may be garbage. Without copies of any piece
    # rubocop:disable Lint/StructNewOverride -- pieces are counted, nobody counts a Struct's members
    CodeGroup = Struct.new(:key, :count, :bytes, :copies, :copy_bytes, :unreached, :oldest, :newest, :live_bytes,
                           :live_objects, :example, keyword_init: true) do
      # pieces: Array of CodePiece, not empty; live: [bytes, objects], each may be nil.
      def self.of(key, pieces, live)
        copies = pieces.select(&:copy)
        oldest, newest = pieces.filter_map(&:generation).minmax
        new(key: key, count: pieces.size, bytes: pieces.sum(&:bytes), copies: copies.size,
            copy_bytes: copies.sum(&:bytes), unreached: unreached(pieces), oldest: oldest, newest: newest,
            live_bytes: live.first, live_objects: live.last, example: example(copies.empty? ? pieces : copies)).freeze
      end

      def self.unreached(pieces)
        pieces.count { |piece| !piece.reached } unless pieces.any? { |piece| piece.reached.nil? }
      end

      def self.example(pieces)
        pieces.min_by { |piece| [piece.reached ? 0 : 1, piece.generation || 0, piece.address] }.address
      end
      private_class_method :unreached, :example
    end
    # rubocop:enable Lint/StructNewOverride

    # What lives at one site at a moment, as a process under heapline writes it into a dump of itself.
    #
    # number:: of the site in the flight file; location:: a Location
    # live_bytes, live_blocks:: of malloc; live_objects:: Ruby objects, nil where they were not accounted
    LiveSite = Struct.new(:number, :location, :live_bytes, :live_blocks, :live_objects, keyword_init: true) do
      # row: a line of the type HEAPLINE_SITE (JsonValue).
      def self.of(row)
        new(number: row.number("site"), location: place(row), live_bytes: row.number("live_bytes"),
            live_blocks: row.number("live_blocks"), live_objects: row.number?("live_objects")).freeze
      end

      def self.place(row)
        library = row.text?("library")
        Places::Location.new(path: row.text?("file"), lineno: row.number?("line"), label: row.text?("label"),
                             library: Places::BaseName.of(library), library_path: library,
                             offset: row.number?("offset"))
      end
      private_class_method :place
    end

    # The compiled code of a process at one moment.
    class Code
      APPLICATION = "(application)"
      UNKNOWN = "(not known)"
      # What pieces are grouped by: the key of a CodePiece, and the key that a Location has in the same grouping.
      GROUPS = {
        file: [->(piece) { piece.path || UNKNOWN }, :path.to_proc],
        method: [->(piece) { [piece.path, piece.method_name || UNKNOWN, piece.method_line] }, nil],
        line: [->(piece) { piece.line ? "#{piece.path}:#{piece.line}" : UNKNOWN }, :to_s.to_proc],
        gem: [->(piece) { piece.path ? Places::GemName.of(piece.path) || APPLICATION : UNKNOWN },
              ->(location) { location.path && (location.gem || APPLICATION) }],
        site: [->(piece) { piece.birth ? piece.birth.to_s : UNKNOWN }, :to_s.to_proc]
      }.freeze
      # "block in render", "rescue in Shop#render" → "render", "Shop#render"
      INSIDE = /\A(?:.*) in /

      attr_reader :pid, :ruby, :time, :generation, :pieces, :sites, :problems

      VERSION = 1 # of the lines that a twin writes

      # text: lines that a twin wrote (ext/heapline/code.h), or those of such a dump that tell of no object. name: what
      # they are called in messages. problems: of the reading. Raises InputError where they are none.
      def self.parse(text, name: "the process's answer", problems: [])
        rows = text.each_line.with_index(1).map { |line, number| JsonValue.parse(line, "#{name}, line #{number},") }
        rows = rows.group_by { |row| row.text?("type") }
        first = rows.fetch("HEAPLINE", []).first or raise InputError, "#{name} has no lines of compiled code"
        first.check_version("version", VERSION)
        sites = rows.fetch("HEAPLINE_SITE", []).map { |row| LiveSite.of(row) }
        by_number = sites.to_h { |site| [site.number, site] }
        pieces = rows.fetch("HEAPLINE_CODE", []).map { |row| CodePiece.of(row, by_number) }
        new(pieces, sites: sites, pid: first.number?("pid"), ruby: first.text?("ruby"), time: time(first),
                    generation: first.number?("generation"), problems: problems)
      end

      # Of a dump that another tool wrote: what it tells is path, label and bytes, and, with tracing, where and when it
      # was compiled. rows: as Native::HeapDump#code_rows has them. others: as for new.
      def self.of_rows(rows, **others)
        new(rows.map { |row| CodePiece.of_row(*row) }, **others)
      end

      def self.time(row)
        Time.iso8601(row.text("time"))
      rescue ArgumentError
        row.wrong("time is no time")
      end
      private_class_method :time

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

      # The Table::Dump of the process or file `name`.
      def dump(name, role: nil)
        facts = [*Table::Dump.origin(ruby, nil, time), *("GC #{Units.count(generation)}" if generation)]
        Table::Dump.new(role: role, name: name == pid.to_s ? "pid #{name}" : name, facts: facts,
                        data: { source: name, pid: pid, ruby: ruby, at: time, generation: generation })
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
