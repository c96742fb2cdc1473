# frozen_string_literal: true

require_relative "loss_words"
require_relative "terminal"

module Heapline
  module Format
    # Lost blocks for a terminal: record by record, each with its Ruby line and its native stack, then the sums.
    class LeaksText
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
        leaks.searches.each { |search| io.puts LossWords.search(search) }
        @kinds.each { |kind| render_kind(leaks.of(kind), io) }
        io.puts "", *sums(leaks), *dropped(leaks), *LossWords.remarks(leaks)
      end

      private

      def render_kind(records, io)
        shown = @top.positive? ? records.first(@top) : records
        shown.each { |record| io.puts "", *record_lines(record) }
        left = records.size - shown.size
        io.puts "", "#{left} more are #{LossWords::TITLES[records.first.kind]}" if left.positive?
      end

      def record_lines(record)
        title = "#{LossWords.amount(record.bytes, record.blocks)} #{LossWords::TITLES[record.kind]}"
        title += ", and with it #{LossWords.amount(record.led_bytes, record.led_blocks)}" if record.led_blocks.positive?
        [@terminal.style(title, COLORS[record.kind]), "  #{ruby(record)}", *frames(record.frames),
         *("    held by #{@terminal.inert(record.held_by.to_s)}" if record.held_by)]
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

      def sums(leaks)
        @kinds.map do |kind|
          bytes, blocks = %w[bytes blocks].map { |unit| leaks.public_send("#{kind}_#{unit}") }
          text = "#{LossWords::TITLES[kind].ljust(16)} #{LossWords.amount(bytes, blocks)}"
          bytes.positive? || blocks.positive? ? @terminal.style(text, COLORS[kind]) : text
        end
      end

      def dropped(leaks)
        LossWords.dropped(leaks).map { |words| "not shown: #{words}" }
      end
    end
  end
end
