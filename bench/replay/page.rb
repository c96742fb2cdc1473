# frozen_string_literal: true

require "stringio"
require "heapline/replay/svg"
require "heapline/replay/variant_table"
require "heapline/replay/words"
require "heapline/replay"
require_relative "workload"

module Bench
  module Replay
    # Measures, and writes what docs/allocators.md has between its marks, with its pictures.
    class Page
      FILE = File.join(Workload::ROOT, "docs/allocators.md")
      IMAGES = File.join(Workload::ROOT, "docs/images")
      MARKS = /(?<=<!-- measured: begin -->\n).*(?=<!-- measured: end -->)/m
      # Workloads that all allocators are compared on.
      COMPARED = { "puma" => "Puma and Rack", "worker" => "A threaded worker of jobs" }.freeze
      # peaks, replayed: bytes, of as many runs of the program and of replays of other ones; comparison: of one of these
      Fidelity = Struct.new(:name, :peaks, :replayed, :comparison, keyword_init: true)
      Units = Heapline::Units

      # plain, rounds: how often each workload is run plainly, and replayed
      def initialize(plain: 5, rounds: 5, names: Workload::NAMES)
        @plain = plain
        @rounds = rounds
        @names = names
      end

      def write
        text = self.text
        page = File.read(FILE, encoding: "UTF-8")
        raise Broken, "#{FILE} has lost its marks" unless page.match?(MARKS)

        File.write(FILE, page.sub(MARKS) { text })
        puts text
      end

      # Markdown; pictures are written where `images` says.
      def text(images: IMAGES)
        measured = @names.map { |name| measure(name) }
        compared = measured.select { |one| COMPARED.key?(one.name) }
        ["#{machine}\n", fidelity(measured), *compared.map { |one| comparison(one, images) }].join("\n")
      end

      private

      # A program with threads is another one in each run: so it is recorded as often as it is run plainly, in turn.
      def measure(name)
        workload = Workload.new(name)
        peaks, replayed = Array.new(@plain) { [workload.peak, replayed(workload.record)] }.transpose
        settings = Heapline::Replay::Settings.new.add("MALLOC_ARENA_MAX=1,2")
        options = COMPARED.key?(name) ? { settings: settings } : { allocators: ["glibc"] }
        Fidelity.new(name: name, peaks: peaks, replayed: replayed,
                     comparison: Heapline::Replay.new(workload.capture, repeat: @rounds, **options).compare)
      end

      def replayed(capture)
        comparison = Heapline::Replay.new(capture, allocators: ["glibc"], repeat: 1).compare
        comparison.baseline.estimate(:peak_bytes).median
      end

      def machine
        cpu = File.read("/proc/cpuinfo")[/^model name\s*: (.*)/, 1]
        "Ruby #{RUBY_VERSION}, #{cpu}, #{File.read("/proc/cpuinfo").scan(/^processor/).size} processors; load at the " \
          "beginning #{File.read("/proc/loadavg").split.first}."
      end

      def fidelity(measured)
        rows = measured.map do |one|
          program, recorded = [one.peaks, one.replayed].map { |values| Heapline::Replay::Estimate.new(values) }
          again = one.comparison.baseline.estimate(:peak_bytes)
          [one.name, spread(program), spread(recorded), percent((recorded.median / program.median.to_f) - 1),
           percent((again.high - again.low) / again.median.to_f, sign: false)]
        end
        table(["workload", "the program's malloc, peak RSS", "replays of its recordings on glibc", "difference",
               "replays of one recording differ by"], rows)
      end

      def spread(estimate)
        "#{bytes(estimate.median)} (#{bytes(estimate.low)} to #{bytes(estimate.high)})"
      end

      def bytes(number)
        Units.bytes(number.round)
      end

      def percent(part, sign: true)
        format(sign ? "%+.1f %%" : "%.1f %%", part * 100)
      end

      def comparison(one, images)
        draw(one.comparison, File.join(images, "replay-#{one.name}.svg"))
        columns = Heapline::Replay::Columns.new(one.comparison)
        rows = one.comparison.variants.sort_by { |variant| variant.estimate(:peak_bytes).median }.map do |variant|
          [variant.name, *columns.all.map { |column| column.text(variant) }]
        end
        words = Heapline::Replay::Words.new(one.comparison)
        "### #{COMPARED.fetch(one.name)}\n\n#{words.facts.drop(1).join(" · ")}\n\n" \
          "#{table(["allocator", *columns.all.map(&:title)], rows)}\n" \
          "The recommendation: #{words.advice.map { |parts| parts.join(" · ") }.join("; ")}.\n\n" \
          "![RSS over the calls, by allocator](images/replay-#{one.name}.svg)\n"
      end

      def draw(comparison, path)
        io = StringIO.new
        Heapline::Replay::Svg.new.render(comparison, io)
        File.write(path, io.string)
      end

      def table(heading, rows)
        [heading, heading.map { "---" }, *rows].map { |row| "| #{row.join(" | ")} |\n" }.join
      end
    end
  end
end
