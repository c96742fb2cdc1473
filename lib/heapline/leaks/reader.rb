# frozen_string_literal: true

require "json"
require_relative "../errors"
require_relative "../model/holder"
require_relative "../model/leaks"
require_relative "../model/location"
require_relative "code"
require_relative "rules"
require_relative "symbols"

module Heapline
  module Leaks
    # From what a search wrote (JSON, see docs/flight-file.md) to Model::Leaks: frames get names, rules are applied.
    # Names are asked for only where the libraries alone do not settle that a record is not shown.
    class Reader
      def initialize(rules:, symbols: Symbols.new)
        @rules = rules
        @symbols = symbols
      end

      # The Hash that a search wrote. Raises KeyError or JSON::ParserError where it is none.
      def self.raw(text)
        raw = JSON.parse(text.dup.force_encoding(Encoding::UTF_8).scrub)
        raise KeyError unless raw.is_a?(Hash) && raw["heapline_leaks"] == 1

        raw
      end

      # Model::Leaks of the text. Raises Error where it is no such report.
      def read(text, source)
        build(Reader.raw(text))
      rescue JSON::ParserError, KeyError
        raise Error, "#{source} is no report of a search for lost blocks"
      end

      private

      def build(raw)
        code = Code.new(raw.fetch("libraries"), machine: raw["vm"], symbols: @symbols)
        foreign, near = raw.fetch("records").partition do |each|
          @rules.foreign?(each["frames"].map { |address| code.path(address) }, code.machine)
        end
        kept, dropped = judge(records(near, raw["pid"], code.frames(near.map { |each| each["frames"] })), code.machine)
        foreign = records(foreign, raw["pid"], foreign.map { |each| bare(each["frames"], code) })
        foreign.each { |record| dropped << [record, @rules.reason(record, code.machine)] }
        Model::Leaks.new(kept, searches: [search(raw)], dropped: sums(dropped))
      end

      # [kept records, [dropped record, reason] …]
      def judge(records, machine)
        reasons = records.to_h { |record| [record, @rules.reason(record, machine)] }.compare_by_identity
        kept, dropped = records.partition { |record| reasons[record].nil? }
        [kept, dropped.map { |record| [record, reasons[record]] }]
      end

      # Frames without names.
      def bare(addresses, code)
        addresses.map do |address|
          path = code.path(address)
          Model::NativeFrame.new(path: path, library: path && File.basename(path), inlined: false)
        end
      end

      def sums(dropped)
        dropped.select { |record, _| record.lost? }.group_by(&:last).transform_values do |pairs|
          [pairs.size, pairs.sum { |record, _| record.blocks }, pairs.sum { |record, _| record.bytes }]
        end
      end

      def records(raw, pid, frames)
        raw.zip(frames).map do |each, stack|
          Model::LossRecord.new(kind: each["kind"].to_sym, location: location(each["site"]), tag: each["site"]["tag"],
                                frames: stack.freeze, ruby_frames: ruby_frames(each["ruby_frames"]), pid: pid,
                                held_by: holder(each["held_by"]),
                                **figures(each, :blocks, :bytes, :led_blocks, :led_bytes, :first_generation,
                                          :last_generation, :addresses))
        end
      end

      # Many records have the same frames.
      def ruby_frames(raw)
        @ruby_frames ||= Hash.new { |known, frame| known[frame] = ruby_frame(frame) }
        raw.map { |frame| @ruby_frames[frame] }.freeze
      end

      def ruby_frame(raw)
        path = raw["path"]
        return Model::Location.new(special: "(unknown)") unless path

        Model::Location.new(path: path, lineno: raw["line"], label: raw["label"])
      end

      def figures(raw, *names)
        names.to_h { |name| [name, raw.fetch(name.to_s)] }
      end

      def holder(raw)
        return unless raw

        path, thread, offset = raw.values_at("path", "thread", "offset")
        kind = raw.fetch("kind").to_sym
        Model::Holder.new(kind: kind, between: raw.fetch("between"), address: raw.fetch("address"),
                          thread: (thread unless thread.to_i.zero?), path: (path unless path.to_s.empty?),
                          offset: (offset if kind == :data))
      end

      def location(site)
        return Model::Location.new(special: "(other)") unless site.key?("line")

        path = site["path"]
        library = site["library"]
        Model::Location.new(path: path, lineno: (site["line"] if path), label: site["label"],
                            library: library && File.basename(library), library_path: library,
                            symbol: (site["label"] unless path), offset: site["offset"])
      end

      def search(raw)
        totals = raw.fetch("totals").to_h { |kind, sums| [kind.to_sym, sums.values_at("blocks", "bytes")] }
        seconds = %w[pause gc scan].to_h { |name| [name.to_sym, raw.fetch("#{name}_ns") / 1e9] }
        Model::Leaks::Search.new(totals: totals, **seconds,
                                 **figures(raw, :pid, :blocks, :bytes, :threads, :threads_without_registers,
                                           :blocks_missed, :generation))
      end
    end
  end
end
