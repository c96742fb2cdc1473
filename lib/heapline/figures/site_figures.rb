# frozen_string_literal: true

require_relative "columns"

module Heapline
  module Figures
    # The figures of a site, of a sum of sites and of a whole snapshot, each declared once: the text report, JSON, CSV,
    # the page, Prometheus, pprof and the sums of Accounting::Site are made of this list, and the docs gate holds the
    # table of docs/formats.md to it. Its order is that of JSON and CSV.
    module SiteFigures
      Figure = Columns::Figure

      ALL = [
        Figure.new(figure: :allocations, unit: :count, help: "Blocks that were allocated",
                   key: :allocs, title: "allocs", place: 6, rank: 9, log: %i[site totals],
                   metric: %i[counter allocations], largest: :site_allocations, sample: "alloc_objects"),
        Figure.new(figure: :frees, unit: :count, help: "Blocks that were freed",
                   key: :frees, title: "frees", place: 7, rank: 8, log: %i[totals], metric: %i[counter frees]),
        Figure.new(figure: :bytes_allocated, unit: :bytes, help: "Bytes of all allocations, freed ones too",
                   key: :bytes, title: "allocated", place: 4, rank: 5, log: %i[site totals],
                   metric: %i[counter allocated], largest: :site_allocated, sample: "alloc_space"),
        Figure.new(figure: :bytes_freed, unit: :bytes, help: "Bytes of the blocks that were freed", page: false,
                   log: %i[totals], metric: %i[counter freed]),
        Figure.new(figure: :live_bytes, unit: :bytes, help: "Bytes allocated and not freed", objects: "their slots",
                   key: :live, title: "live", place: 3, rank: 2, log: %i[site totals],
                   metric: %i[gauge live], largest: :site_live, sample: "inuse_space"),
        Figure.new(figure: :live_blocks, unit: :count, help: "Blocks allocated and not freed", objects: "their number",
                   key: :blocks, title: "blocks", place: 5, rank: 3, log: %i[site totals],
                   metric: %i[gauge live_blocks], largest: :site_live_blocks, sample: "inuse_objects"),
        Figure.new(figure: :growth_bytes, unit: :bytes, help: "Live bytes now minus live bytes at the baseline",
                   key: :growth, title: "growth", place: 1, rank: 1, log: %i[site totals],
                   metric: %i[gauge growth], largest: :site_growth),
        Figure.new(figure: :growth_blocks, unit: :count, help: "Live blocks now minus live blocks at the baseline",
                   page: false),
        Figure.new(figure: :retained_bytes, unit: :bytes, help: "Bytes allocated after the baseline and still live",
                   key: :retained, title: "retained", place: 2, rank: 7, metric: %i[gauge retained]),
        Figure.new(figure: :retained_blocks, unit: :count, help: "Blocks allocated after the baseline and still live",
                   page: false),
        Figure.new(figure: :temporary, unit: :count,
                   help: "Blocks freed within the GC generation of their birth or the next",
                   key: :temporary, title: "temporary", place: 8, rank: 6, part: :allocations,
                   metric: %i[counter temporary_frees]),
        Figure.new(figure: :age_sum, data: :age_sum_generations, unit: :generations,
                   help: "How long the freed blocks lived in GC generations, added up"),
        Figure.new(figure: :age_max, data: :age_max_generations, unit: :generations, longest: true, log: %i[site],
                   help: "How long the oldest freed block lived in GC generations"),
        Figure.new(figure: :mean_age, data: :age_mean_generations, unit: :generations, of: :age_sum, per: :frees,
                   help: "How long the freed blocks lived in GC generations, the mean",
                   key: :life, title: "life GCs", place: 9, rank: 4, log: %i[site]),
        Figure.new(figure: :age_ms_sum, data: :age_sum_ms, unit: :milliseconds,
                   help: "How long the freed blocks lived in milliseconds, added up"),
        Figure.new(figure: :age_ms_max, data: :age_max_ms, unit: :milliseconds, longest: true,
                   help: "How long the oldest freed block lived in milliseconds"),
        Figure.new(figure: :mean_age_ms, data: :age_mean_ms, unit: :milliseconds, of: :age_ms_sum, per: :frees,
                   help: "How long the freed blocks lived in milliseconds, the mean", title: "life time", log: %i[site])
      ].freeze
      # What is counted: all but the means.
      COUNTED = ALL.reject(&:per).freeze
      # Names of those that add up over sites, and of the maxima.
      ADDITIVE = COUNTED.reject(&:longest).map(&:figure).freeze
      MAXIMA = COUNTED.select(&:longest).map(&:figure).freeze
      # Names of what is said of a whole process: all that add up, but for sums of lifespans.
      TOTALS = ADDITIVE - %i[age_sum age_ms_sum]

      # Those that are columns of a table, from the left, and what --sort takes.
      COLUMNS = ALL.select(&:key).sort_by(&:place).freeze
      KEYS = COLUMNS.map(&:key).freeze
      # Columns that are always shown, and what goes first where the screen is narrow; the first never does.
      USUAL = %i[growth live blocks allocs frees life].freeze
      LEAST = COLUMNS.reject { |figure| figure.rank == 1 }.sort_by { |figure| -figure.rank }.map(&:key).freeze

      # How fast a figure moves: its change between two moments, a second. By the figure; its column is one of whatever
      # answers to `rate(figure)`, with a Float or nil.
      RATES = {
        live_bytes: { key: :change, title: "live/s", unit: :change, help: "Change of live bytes a second" },
        bytes_allocated: { key: :rate, title: "alloc/s", unit: :rate, help: "Bytes allocated a second" },
        allocations: { key: :calls, title: "calls/s", unit: :count, help: "Blocks allocated a second" }
      }.to_h { |of, fields| [of, Columns::Column.new(figure: ->(row) { row.rate(of) }, **fields)] }.freeze
      # Its column is one of whatever has `temporary_share`.
      TEMPORARY_SHARE = Columns::Column.new(figure: :temporary_share, unit: :percent, key: :temporary, title: "temp",
                                            help: "The part of the freed blocks that was temporary")

      # The part of what was freed that was temporary (0.0 to 1.0); nil where nothing was.
      def self.temporary_share(temporary, freed)
        temporary.fdiv(freed).clamp(0.0, 1.0) if freed.positive?
      end

      # Those of a site, or of the totals, in a growth log.
      def self.logged(of)
        ALL.select { |figure| figure.log&.include?(of) }
      end

      # The column of a key.
      def self.fetch(key)
        COLUMNS.find { |column| column.key == key } || raise(ArgumentError, "sort by #{KEYS.join(", ")}, not #{key}")
      end

      def self.fetch_values(*keys)
        keys.map { |key| fetch(key) }
      end

      # How long blocks lived in a program that has no GC.
      LIFE_TIME = Columns::Column.new(
        key: :life, title: "life", figure: :mean_age_ms,
        words: ->(site) { site.frees.zero? ? "-" : Units.duration(site.mean_age_ms / 1000) }
      )

      # The usual columns and the sorted one. gcs: has the program GCs?
      def self.for(sort, gcs: true)
        chosen = COLUMNS.select { |column| USUAL.include?(column.key) || column.key == sort }
        return chosen if gcs

        chosen.map { |column| column.key == :life ? LIFE_TIME : column }
      end

      # What the scripts of a page have of the columns, and of the means that one site alone has besides. Without a GC
      # lives are times, which say what is temporary.
      def self.declared(gcs: true)
        means = ALL.select { |figure| figure.per && !figure.key }
        return [*COLUMNS, *means].map(&:declared) if gcs

        life = LIFE_TIME.to_h.slice(:key, :title).merge(rank: fetch(:life).rank)
        others = COLUMNS - fetch_values(:temporary, :life)
        [*others.map(&:declared), *means.map { |mean| { **mean.declared, **life } }]
      end
    end
  end
end
