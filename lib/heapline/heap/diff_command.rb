# frozen_string_literal: true

require_relative "comparison"
require_relative "groups"
require_relative "question"

module Heapline
  module Heap
    # What `heapline heap diff` answers: what grew from dump to dump; of three, what was born between the first and
    # the second and is still in the third.
    class Changes
      # title and unit of each figure of Heap::Change
      FIGURES = {
        kept_bytes: ["kept", :bytes], kept_count: ["kept objects", :count],
        growth_bytes: ["growth", :bytes], growth_count: ["objects", :count], born_count: ["born", :count],
        gone_count: ["gone", :count], before_bytes: ["before", :bytes], after_bytes: ["after", :bytes],
        last_bytes: ["last", :bytes]
      }.freeze
      TWO = %i[growth_bytes growth_count born_count gone_count before_bytes after_bytes].freeze
      THREE = %i[kept_bytes kept_count born_count growth_bytes before_bytes after_bytes last_bytes].freeze
      # Known only where objects are the same at the same address.
      IDENTITY = %i[born_count gone_count kept_count kept_bytes].freeze
      # What can be sorted by.
      SORTS = { kept: :kept_bytes, growth: :growth_bytes, objects: :growth_count, born: :born_count,
                gone: :gone_count, before: :before_bytes, after: :after_bytes }.freeze
      ROLES = %w[before after last].freeze

      # top: rows of each table (0: all). sort: a key of SORTS; nil: what was kept, or the growth.
      def initialize(top: 20, sort: nil)
        @top = top
        @sort = sort
      end

      # comparisons: Array of Heap::Comparison of the same dumps (Array of HeapDump). Returns a Sheet.
      # Raises UsageError where the dumps do not tell what is to be sorted by.
      def sheet(comparisons, compared)
        @compared = compared
        first = comparisons.first
        summaries = [first.before, first.after, first.last].compact
        dumps = summaries.zip(compared.map(&:name), ROLES).map { |summary, name, role| summary.dump(name, role: role) }
        Table::Sheet.new(kind: "diff", title: "heapline heap diff", dumps: dumps,
                         parts: [totals(first), *comparisons.map { |each| listing(each, comparisons.size > 1) }],
                         problems: comparisons.flat_map(&:problems).uniq)
      end

      private

      def totals(comparison)
        data = { same_process: comparison.same_process?, **sums(comparison) }
        Table::Statement.new(key: :totals, parts: words(comparison, data), data: data)
      end

      def sums(comparison)
        figures = keys(comparison) - %i[before_bytes after_bytes last_bytes]
        figures.to_h { |key| [key, comparison.changes.sum { |change| change.public_send(key) || 0 }] }
      end

      def words(comparison, sums)
        growth = "growth #{Units.bytes(sums[:growth_bytes])} in #{Units.count(growth(comparison))} objects"
        return [growth, "two processes: the same address is not the same object"] unless sums[:same_process]

        return [growth, "#{born(sums)} born", "#{Units.count(sums[:gone_count])} gone"] unless comparison.three?

        ["#{born(sums)} born between the first two",
         "#{Units.count(sums[:kept_count])} of them still in the third: #{Units.bytes(sums[:kept_bytes])}"]
      end

      def growth(comparison)
        comparison.after.objects - comparison.before.objects
      end

      def born(sums)
        Units.count(sums[:born_count])
      end

      def keys(comparison)
        keys = comparison.three? ? THREE : TWO
        comparison.same_process? ? keys : keys - IDENTITY
      end

      def listing(comparison, titled)
        keys = keys(comparison)
        sort = @sort ? SORTS.fetch(@sort) : keys.first
        raise UsageError, "cannot sort these by #{@sort}: #{known(keys)}" unless keys.include?(sort)

        rows = rows(comparison.changes, sort)
        shown = @top.zero? ? rows : rows.first(@top)
        Table::Listing.new(key: :"by_#{comparison.by}", title: ("By #{comparison.by}" if titled), rows: shown,
                           total: rows.size, columns: columns(keys), sorted: sort, name: comparison.by.to_s,
                           label: ->(change) { Groups.label(comparison.by, *named(comparison, change)) },
                           data: ->(change) { Groups.data(comparison.by, *named(comparison, change)) })
      end

      # The key, and of a class where it is defined: as the last dump says that has instances of it.
      def named(comparison, change)
        knowing = comparison.by == :class ? @compared.reverse : []
        [change.key, knowing.lazy.filter_map { |dump| dump.definition(change.key) }.first]
      end

      def known(keys)
        SORTS.select { |_, figure| keys.include?(figure) }.keys.join(", ")
      end

      # Those that say something, unless all are asked for.
      def rows(changes, sort)
        sorted = changes.sort_by { |change| [-value(change, sort), -change.growth_bytes, change.key.to_s] }
        telling = sorted.reject { |change| value(change, sort).zero? }
        @top.zero? || telling.empty? ? sorted : telling
      end

      def value(change, key)
        change.public_send(key) || 0
      end

      def columns(keys)
        keys.map do |key|
          title, unit = FIGURES.fetch(key)
          Figures::Columns::Column.new(key: key, title: title, figure: ->(change) { value(change, key) }, unit: unit)
        end
      end
    end

    # `heapline heap diff A B [C]`: what grew; with three dumps, what was born between A and B and is still in C.
    class DiffCommand < Question
      USAGE_LINE = "heap diff [options] A B [C]"
      SUMMARY = "Show what grew between two dumps; of three, what was born and stayed"

      private

      def define(parser)
        kinds = Survey::KINDS
        parser.on("--by GROUP", kinds, "by #{kinds.join(", ")}; else by class, and line if known") do |value|
          @options[:by] = value
        end
        define_top(parser)
        keys = Changes::SORTS.keys
        parser.on("--sort KEY", keys, "sort by #{keys.join(", ")}") { |value| @options[:sort] = value }
        super
      end

      def answer(words)
        unless [2, 3].include?(words.size)
          raise UsageError, "two dumps, or three: #{words.empty? ? "none" : words.join(" ")} given"
        end

        dumps = words.map { |path| read(path, index: :objects) }
        comparisons = kinds(dumps).map { |by| HeapDump.compare(*dumps, by: by) }
        Changes.new(**@options.slice(:top, :sort)).sheet(comparisons, dumps)
      end

      def kinds(dumps)
        return [@options[:by]] if @options[:by]

        dumps.all? { |dump| dump.summary.traced.positive? } ? %i[class line] : [:class]
      end
    end
  end
end
