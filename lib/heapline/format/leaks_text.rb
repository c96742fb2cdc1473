# frozen_string_literal: true

require_relative "inert"
require_relative "terminal"
require_relative "units"

module Heapline
  module Format
    # Lost blocks for a terminal: record by record, each with its Ruby line and its native stack, then the sums.
    class LeaksText
      TITLES = { definite: "definitely lost", indirect: "indirectly lost", possible: "possibly lost",
                 reachable: "still reachable" }.freeze
      UNSEEN = "the registers of %d threads could not be read (ptrace is not permitted): what only a register points " \
               "to looks lost"
      COLORS = { definite: :red, indirect: :red, possible: :yellow, reachable: :dim }.freeze

      # kinds: of the records that are shown. top: of each kind so many (0: all). directory: paths below it are shown
      # relative to it.
      def initialize(kinds: %i[definite indirect possible], top: 0, directory: nil, env: ENV)
        @kinds = kinds
        @top = top
        @directory = directory
        @env = env
      end

      # Write `leaks` (Model::Leaks) to `io`.
      def render(leaks, io)
        @terminal = Terminal.new(io, @env)
        leaks.searches.each { |search| io.puts head(search) }
        @kinds.each { |kind| render_kind(leaks.of(kind), io) }
        io.puts "", *sums(leaks), *dropped(leaks), *remarks(leaks)
      end

      private

      def head(search)
        parts = ["#{Units.count(search.blocks)} live blocks, #{Units.bytes(search.bytes)}",
                 "paused #{milliseconds(search.pause)} after a GC of #{milliseconds(search.gc)}",
                 "searched in #{milliseconds(search.scan)}"]
        "process #{search.pid}: #{parts.join("; ")}"
      end

      def milliseconds(seconds)
        format("%.1f ms", seconds * 1000)
      end

      def render_kind(records, io)
        shown = @top.positive? ? records.first(@top) : records
        shown.each { |record| io.puts "", *record_lines(record) }
        io.puts "", "#{records.size - shown.size} more are #{TITLES[records.first.kind]}" if shown.size < records.size
      end

      def record_lines(record)
        title = "#{amount(record.bytes, record.blocks)} #{TITLES[record.kind]}"
        title += ", and with it #{amount(record.led_bytes, record.led_blocks)}" if record.led_blocks.positive?
        [@terminal.style(title, COLORS[record.kind]), "  #{ruby(record)}", *frames(record.frames)]
      end

      def ruby(record)
        place = record.location
        [short(place.to_s), place.label && place.path && @terminal.inert(place.label),
         place.via && "via #{@terminal.inert(place.via)}", record.tag && "[#{@terminal.inert(record.tag)}]"]
          .compact.join("  ")
      end

      def frames(frames)
        names = frames.map { |frame| @terminal.inert(frame.name) }
        width = [names.map(&:size).max.to_i, 40].min
        frames.zip(names).map do |frame, name|
          "    #{name.ljust(width)}  #{@terminal.style(place(frame), :dim)}".rstrip
        end
      end

      def place(frame)
        return frame.function ? short(frame.place) : "" unless frame.file && frame.library

        "#{short(frame.place)}  #{@terminal.inert(frame.library)}"
      end

      def short(path)
        text = path.to_s
        text = text.delete_prefix("#{@directory}/") if @directory && @directory != "/"
        @terminal.inert(text)
      end

      def amount(bytes, blocks)
        "#{Units.bytes(bytes)} in #{Units.count(blocks)} block#{"s" if blocks != 1}"
      end

      def sums(leaks)
        @kinds.map do |kind|
          bytes, blocks = %w[bytes blocks].map { |unit| leaks.public_send("#{kind}_#{unit}") }
          text = "#{TITLES[kind].ljust(16)} #{amount(bytes, blocks)}"
          bytes.positive? || blocks.positive? ? @terminal.style(text, COLORS[kind]) : text
        end
      end

      def dropped(leaks)
        leaks.dropped.map do |reason, (records, blocks, bytes)|
          "not shown: #{amount(bytes, blocks)} #{reason}, #{records} record#{"s" if records != 1}"
        end
      end

      def remarks(leaks)
        unseen = leaks.searches.sum(&:threads_without_registers)
        missed = leaks.searches.sum(&:blocks_missed)
        said = []
        said << format(UNSEEN, unseen) if unseen.positive?
        said << "#{missed} blocks found no room in the map" if missed.positive?
        said
      end
    end
  end
end
