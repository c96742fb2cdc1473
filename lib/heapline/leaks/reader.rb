# frozen_string_literal: true

require_relative "../places/location"
require_relative "../files/json_value"
require_relative "loss_record"
require_relative "findings"
require_relative "code"
require_relative "rules"
require_relative "../places/symbols"

module Heapline
  module Leaks
    # From what a search wrote (JSON, see docs/flight-file.md) to Leaks::Findings: frames get names, rules are applied.
    # Names are asked for only where the libraries alone do not settle that a record is not shown.
    class Reader
      VERSION = 1 # of what leak_report.c writes
      KINDS = Findings::KINDS.to_h { |kind| [kind.name, kind] }.freeze

      def initialize(rules:, symbols: Places::Symbols.new)
        @rules = rules
        @symbols = symbols
      end

      # The JsonValue that a search wrote. Raises InputError where it is none.
      def self.raw(text, source)
        raw = JsonValue.parse(text.dup.force_encoding(Encoding::UTF_8).scrub, source)
        raw.wrong("is no report of a search for lost blocks") unless raw.key?("heapline_leaks")
        raw.check_version("heapline_leaks", VERSION)
        raw
      end

      # Leaks::Findings of the text. Raises InputError where it is no such report.
      def read(text, source)
        build(Reader.raw(text, source))
      end

      # The same of several processes, Array of [text, source]: what a forked child has of a parent that is one of them
      # is the parent's.
      def read_all(texts)
        raws = texts.map { |text, source| Reader.raw(text, source) }
        pids = raws.map { |raw| raw.number("pid") }
        Findings.merge(raws.map { |raw| build(raw, inherited: !pids.include?(raw.number?("parent"))) })
      end

      private

      def build(raw, inherited: true)
        @sites = {}
        code = Code.of(raw, symbols: @symbols)
        pid = raw.number("pid")
        all = stacks(raw)
        all.reject! { |each, _| each.number?("inherited").to_i.positive? } unless inherited
        foreign, near = all.partition { |_, stack| foreign?(stack, code) }
        kept, dropped = judge(records(near.map(&:first), pid, code.frames(near.map(&:last))), code.machine)
        foreign.select! { |each, _| lost?(each) } # of the others nothing is said
        foreign = records(foreign.map(&:first), pid, code.bare(foreign.map(&:last)))
        foreign.each { |record| dropped << [record, @rules.reason(record, code.machine)] }
        led, kept = kept.partition { |record| record.kind == :indirect } if only_suppressed_lead?(kept, dropped)
        dropped.concat(led.map { |record| [record, Rules::LED] }) if led
        Findings.new(kept, searches: [search(raw)], dropped: sums(dropped))
      end

      # Array of [record (JsonValue), its return addresses]; many records have the same, which is one Array.
      def stacks(raw)
        known = {}
        raw.list("records").map do |each|
          stack = each.numbers("frames")
          [each, known[stack] ||= stack]
        end
      end

      def foreign?(stack, code)
        @foreign ||= {}.compare_by_identity
        @foreign.fetch(stack) do
          @foreign[stack] = @rules.foreign?(stack.map { |address| code.path(address) }, code.machine)
        end
      end

      # [kept records, [dropped record, reason] …]
      def judge(records, machine)
        kept, dropped = records.map { |record| [record, @rules.reason(record, machine)] }.partition { _2.nil? }
        [kept.map(&:first), dropped]
      end

      # What is indirectly lost goes with the blocks that lead to it, as in Valgrind; which those are is known where
      # suppressed blocks alone lead to others.
      def only_suppressed_lead?(kept, dropped)
        suppressed, others = dropped.partition { |_, reason| reason.start_with?(Rules::SUPPRESSED) }
        return false if (kept + others.map(&:first)).any? { |record| record.led_blocks.positive? }

        led = kept.sum { |record| record.kind == :indirect ? record.blocks : 0 }
        led <= suppressed.sum { |record, _| record.led_blocks }
      end

      def sums(dropped)
        dropped.select { |record, _| record.lost? }.group_by(&:last).transform_values do |pairs|
          [pairs.size, pairs.sum { |record, _| record.blocks }, pairs.sum { |record, _| record.bytes }]
        end
      end

      def records(raw, pid, frames)
        raw.zip(frames).map do |each, stack|
          ruby_frames = ruby_frames(each)
          location, tag = site(each, ruby_frames)
          LossRecord.new(kind: kind(each), location: location, tag: tag, frames: stack, pid: pid,
                         ruby_frames: ruby_frames, addresses: each.numbers("addresses"),
                         held_by: (holder(each.fetch("held_by")) if each.key?("held_by")),
                         blocks: each.number("blocks"), bytes: each.number("bytes"),
                         led_blocks: each.number("led_blocks"), led_bytes: each.number("led_bytes"),
                         first_generation: each.number("first_generation"),
                         last_generation: each.number("last_generation"))
        end
      end

      def kind(each)
        name = each.text("kind")
        KINDS[name] || each.wrong("has a block that is #{name.inspect}, which no search says")
      end

      def lost?(each)
        LossRecord::LOST.include?(kind(each))
      end

      # Many records have the same frames: { path => { label => { line => Location } } }
      def ruby_frames(each)
        @ruby_frames ||= Hash.new { |all, path| all[path] = Hash.new { |paths, label| paths[label] = {} } }
        each.array("ruby_frames").map do |raw|
          each.wrong("ruby_frames has what is no frame") unless raw.is_a?(Hash)
          @ruby_frames[raw["path"]][raw["label"]][raw["line"]] ||=
            ruby_frame(JsonValue.new(raw, each.name, "ruby_frames"))
        end.freeze
      end

      def ruby_frame(raw)
        return Places::Location.new(special: "(unknown)") unless raw.key?("path")

        Places::Location.new(path: raw.text("path"), lineno: raw.number?("line"), label: raw.text?("label"))
      end

      def figures(raw, *names)
        names.to_h { |name| [name, raw.number(name.to_s)] }
      end

      def holder(raw)
        thread = raw.number?("thread")
        path = raw.text?("path")
        kind = raw.text("kind").to_sym
        Holder.new(kind: kind, between: raw.number("between"), address: raw.number("address"),
                   thread: (thread unless thread.to_i.zero?), path: (path unless path.to_s.empty?),
                   offset: (raw.number("offset") if kind == :data), location: stack_location(raw))
      end

      def stack_location(raw)
        Places::Location.new(path: raw.text("ruby_path"), lineno: raw.number("ruby_line")) if raw.key?("ruby_path")
      end

      # [location, tag] of a record's site, which many share. The methods of one line have one site, called as the first
      # of them that asked: the record's own stack says which it is.
      def site(each, ruby_frames)
        raw = each.fetch("site")
        line = [raw.text?("path"), raw.number?("line")]
        label = ruby_frames.find { |frame| line == [frame.path, frame.lineno] }&.label if line.first
        @sites[[raw.number?("number"), label]] ||= [location(raw, label || raw.text?("label")), raw.text?("tag")]
      end

      def location(site, label)
        return Places::Location.new(special: label || "(other)") unless site.key?("line")

        path, library = %w[path library].map { |key| site.text?(key) }
        Places::Location.new(path: path, lineno: (site.number("line") if path), label: label,
                             library: Places::BaseName.of(library), library_path: library,
                             symbol: (label unless path), offset: site.number?("offset"))
      end

      # { path of a library => [blocks, bytes] }
      def growths(raw)
        return {} unless raw.key?("growths")

        raw.list("growths").to_h { |each| [each.text("path"), [each.number("blocks"), each.number("bytes")]] }
      end

      def search(raw)
        totals = raw.pairs("totals").to_h { |kind, sums| [kind.to_sym, [sums.number("blocks"), sums.number("bytes")]] }
        seconds = %w[pause gc scan].to_h { |name| [name.to_sym, raw.number("#{name}_ns") / 1e9] }
        Findings::Search.new(totals: totals, **seconds, fibers_unknown: raw.number?("fibers_unknown") || 0,
                             growths: growths(raw),
                             **figures(raw, :pid, :blocks, :bytes, :threads, :threads_without_registers,
                                       :blocks_missed, :generation))
      end
    end
  end
end
