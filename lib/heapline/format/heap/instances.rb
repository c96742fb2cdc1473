# frozen_string_literal: true

require_relative "../units"
require_relative "object_columns"
require_relative "objects"
require_relative "path_words"
require_relative "sheet"

module Heapline
  module Format
    module Heap
      # What `heapline heap find FILE CLASS` answers: the instances, who references them, and the paths from the roots,
      # of which those that differ in indices only are one.
      class Instances
        # So many instances are looked at for referrers and paths.
        SAMPLE = 1000
        COUNT = [Columns::Column.new(key: :count, title: "instances", figure: :last, unit: :count)].freeze
        # References to one instance that are looked at.
        EACH = 20

        # top: rows of each table (0: all). path: also the paths. values: false hides what strings are.
        def initialize(top: 20, path: false, values: true)
          @top = top
          @path = path
          @objects = Objects.new(values: values)
          @words = PathWords.new(@objects, general: true)
        end

        # group: Model::Heap::Group of the class in `dump` (HeapDump). Returns a Sheet.
        def sheet(dump, group)
          addresses = dump.instances_of(group.key, limit: [group.count, SAMPLE].min)
          parts = [itself(group, addresses), *([paths(dump, addresses)] if @path), referrers(dump, addresses),
                   instances(dump, group, addresses)]
          Sheet.new(kind: "find", dumps: [Dump.new(name: dump.name, summary: dump.summary)], parts: parts,
                    problems: dump.problems)
        end

        private

        def itself(group, addresses)
          parts = ["#{Units.count(group.count)} instances of #{group.key}", Units.bytes(group.bytes)]
          if addresses.size < group.count
            parts << "referrers and paths are those of the first #{Units.count(addresses.size)}"
          end
          Statement.new(key: :class, parts: parts,
                        data: { class: group.key, count: group.count, bytes: group.bytes, examined: addresses.size })
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
          Listing.new(rows: shown, total: rows.size, columns: COUNT, sorted: :count,
                      label: ->((text, _)) { Label.new(text: text) },
                      data: ->((text, _)) { { others.fetch(:name).to_sym => text } }, **others)
        end

        def instances(dump, group, addresses)
          shown = @top.zero? ? addresses : addresses.first(@top)
          rows = shown.filter_map { |address| dump.object(address) }
          ObjectColumns.new(@objects).objects(rows, key: :instances, total: group.count,
                                                    title: "Instances, in the order of their addresses")
        end
      end
    end
  end
end
