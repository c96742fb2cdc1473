# frozen_string_literal: true

require_relative "groups"
require_relative "object_columns"
require_relative "object_words"
require_relative "path_words"
require_relative "question"

module Heapline
  module Heap
    # What `heapline heap find FILE ADDRESS` answers: the object, who references it, what it references, and the
    # shortest path from a root to it.
    class Finding
      # No object has so many references.
      ALL = (2**31) - 1
      # Steps of a path that are shown at each of its ends.
      END_STEPS = 30

      # top: rows of each table (0: all). path: also the path. values: false hides what strings are.
      def initialize(top: 20, path: false, values: true)
        @top = top
        @path = path
        @objects = ObjectWords.new(values: values)
        @columns = ObjectColumns.new(@objects)
      end

      # object: of `dump` (HeapDump). Returns a Sheet.
      def sheet(dump, object)
        parts = [itself(object), *(@path ? way(dump, object) : []), referrers(dump, object), references(dump, object)]
        Question.sheet("find", dump, *parts)
      end

      private

      def itself(object)
        facts = [@objects.long(object), object.address_text,
                 object.file && Table::Label.new(place: object.location), object.label, definition(object),
                 object.generation && "generation #{object.generation}",
                 "#{Units.bytes(object.bytes)}, of these #{Units.bytes(object.slot_bytes)} its slot", *flags(object)]
        Table::Statement.new(key: :object, parts: facts.compact, data: @objects.data(object))
      end

      # Where its class is, or it itself, for those who have no line of the object.
      def definition(object)
        return if object.definition.nil? || object.definition == object.location

        Table::Label.new(text: object.module? ? "defined at" : "its class is defined at", place: object.definition)
      end

      def flags(object)
        %i[embedded shared frozen interned singleton].select { |flag| object[flag] }.map(&:to_s)
      end

      def way(dump, object)
        steps = dump.path(object.address)
        return [unreachable] unless steps

        parts = PathWords.new(@objects).parts(steps)
        text = parts.join(PathWords::ARROW)
        [Table::Statement.new(key: :path_text, title: "Path from a root", parts: [*parts[..-2], origin(parts.last,
                                                                                                       object)],
                              separator: PathWords::ARROW, data: text), steps(steps)]
      end

      # The end of a path: where and when the object was allocated.
      def origin(text, object)
        return text unless object.file

        generation = object.generation && "(generation #{object.generation})"
        Table::Label.new(text: [text, generation].compact.join(" "), place: object.location)
      end

      def unreachable
        Table::Statement.new(key: :path, title: "Path from a root", data: nil,
                             parts: ["none: it is garbage that was not collected when the dump was made"])
      end

      # The path step by step, with the addresses; of a long one its ends.
      def steps(steps)
        left = steps.size - (2 * END_STEPS)
        shown = left.positive? ? steps.first(END_STEPS) + steps.last(END_STEPS) : steps
        title = "#{Units.count(left)} steps in the middle are left out" if left.positive?
        @columns.references(shown, key: :path, title: title)
      end

      def referrers(dump, object)
        total = dump.referrer_count(object.address)
        rows = dump.referrers(object.address, limit: @top.zero? ? total : @top)
        @columns.references(rows, key: :referrers, total: total, title: "Referenced by")
      end

      def references(dump, object)
        rows = dump.references(object.address, limit: @top.zero? ? ALL : @top + 1)
        shown = @top.zero? ? rows : rows.first(@top)
        more = rows.size > shown.size ? ", the first #{Units.count(@top)} (all: --top 0)" : ""
        @columns.references(shown, key: :references, title: "References#{more}")
      end
    end

    # What `heapline heap find FILE CLASS` answers: the instances, who references them, and the paths from the roots,
    # of which those that differ in indices only are one.
    class Instances
      # So many instances are looked at for referrers and paths.
      SAMPLE = 1000
      COUNT = [Figures::Columns::Column.new(key: :count, title: "instances", figure: :last, unit: :count)].freeze
      # References to one instance that are looked at.
      EACH = 20

      # top: rows of each table (0: all). path: also the paths. values: false hides what strings are.
      def initialize(top: 20, path: false, values: true)
        @top = top
        @path = path
        @objects = ObjectWords.new(values: values)
        @words = PathWords.new(@objects, general: true)
      end

      # group: Heap::Group of the class in `dump` (HeapDump); addresses: those that are looked at. Returns a Sheet.
      def sheet(dump, group, addresses = dump.instances_of(group.key, limit: [group.count, SAMPLE].min))
        parts = [itself(dump, group, addresses), *([paths(dump, addresses)] if @path), referrers(dump, addresses),
                 instances(dump, group, addresses)]
        Question.sheet("find", dump, *parts)
      end

      private

      def itself(dump, group, addresses)
        definition = dump.definition(group.key)
        instances = "#{Units.count(group.count)} instance#{"s" if group.count != 1}"
        parts = ["#{instances} of #{group.key}", Units.bytes(group.bytes)]
        parts << Table::Label.new(text: "defined at", place: definition.to_s) if definition
        if addresses.size < group.count
          parts << "referrers and paths are those of the first #{Units.count(addresses.size)}"
        end
        figures = { count: group.count, bytes: group.bytes, examined: addresses.size }
        Table::Statement.new(key: :class, parts: parts,
                             data: { **Groups.data(:class, group.key, definition), **figures })
      end

      def paths(dump, addresses)
        words = addresses.map do |address|
          steps = dump.path(address)
          steps ? @words.parts(steps).join(PathWords::ARROW) : "no root leads to it"
        end
        counted(words, key: :paths, title: "Paths from a root", name: "path")
      end

      # An instance that is referenced twice in one way counts once there.
      def referrers(dump, addresses)
        words = addresses.flat_map do |address|
          dump.referrers(address, limit: EACH).map { |one| @words.holder(one.object, one.name) }.uniq
        end
        counted(words, key: :referrers, title: "Referenced by", name: "referrer")
      end

      def counted(words, **others)
        rows = words.tally.sort_by { |text, count| [-count, text] }
        shown = @top.zero? ? rows : rows.first(@top)
        Table::Listing.new(rows: shown, total: rows.size, columns: COUNT, sorted: :count,
                           label: ->((text, _)) { Table::Label.new(text: text) },
                           data: ->((text, _)) { { others.fetch(:name).to_sym => text } }, **others)
      end

      def instances(dump, group, addresses)
        shown = @top.zero? ? addresses : addresses.first(@top)
        rows = shown.filter_map { |address| dump.object(address) }
        ObjectColumns.new(@objects).objects(rows, key: :instances, total: group.count,
                                                  title: "Instances, in the order of their addresses")
      end
    end

    # `heapline heap find FILE ADDRESS|CLASS`: who references it, and the way from a root.
    class FindCommand < Question
      USAGE_LINE = "heap find [options] FILE ADDRESS|CLASS"
      SUMMARY = "Show what refers to an object or to a class's instances, and the path from a root"
      ADDRESS = /\A0x\h{1,16}\z/i

      private

      def define(parser)
        parser.on("--path", "also the shortest path from a root") { @options[:path] = true }
        define_top(parser)
        define_values(parser)
        super
      end

      def answer(words)
        *files, what = words
        raise UsageError, "what in which dump? give a file, and an address (0x…) or a class" if files.empty?

        dump = dump_of(files, index: true)
        options = @options.slice(:top, :path, :values)
        return Finding.new(**options).sheet(dump, object(dump, what)) if what.match?(ADDRESS)

        Instances.new(**options).sheet(dump, group(dump, what))
      end

      def group(dump, name)
        groups = dump.histogram(by: :class)
        groups.find { |group| group.key == name } or raise Error, unknown(dump, name, groups)
      end

      # A class may be asked for by its last name.
      def unknown(dump, name, groups)
        near = groups.map(&:key).grep(/(?:\A|::)#{Regexp.escape(name)}/i).first(5)
        meant = near.empty? ? "; heapline heap histo lists the classes" : "; did you mean #{near.join(", ")}?"
        Inert.text("no instance of #{name} in #{searched(dump)}#{meant}")
      end
    end
  end
end
