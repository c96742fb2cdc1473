# frozen_string_literal: true

require_relative "loss_words"
require_relative "../terminal/output"

module Heapline
  module Leaks
    # One loss record as lines for people: how much, the line of Ruby, the native stack.
    class LossLines
      COLORS = { definite: :red, indirect: :red, possible: :yellow, reachable: :dim }.freeze

      # Of Ruby's, the nearest.
      RUBY_FRAMES = 12

      # terminal: Terminal. directory: paths below it are shown relative to it.
      def initialize(terminal, directory: nil)
        @terminal = terminal
        @directory = directory
      end

      # Array of Strings for a Leaks::LossRecord.
      def of(record)
        title = "#{LossWords.amount(record.bytes, record.blocks)} #{LossWords::TITLES[record.kind]}"
        title += ", and with it #{LossWords.amount(record.led_bytes, record.led_blocks)}" if record.led_blocks.positive?
        [@terminal.style(title, COLORS[record.kind]), "  #{ruby(record)}", *stack(record),
         *("    held by #{@terminal.inert(record.held_by.to_s)}" if record.held_by)]
      end

      # One line for a Leaks::Findings::FunctionLoss.
      def function(sum)
        "#{LossWords.amount(sum.bytes, sum.blocks)}  #{@terminal.inert(sum.frame.name)}  " \
          "#{@terminal.inert(sum.frame.library.to_s)}, #{sum.records} record#{"s" if sum.records != 1}"
      end

      private

      def ruby(record)
        place = record.location
        [short(place.to_s), place.label && place.path && @terminal.inert(place.label),
         place.via && "via #{@terminal.inert(place.via)}", record.tag && "[#{@terminal.inert(record.tag)}]"]
          .compact.join("  ")
      end

      # C functions, and on what they stand: the frames of Ruby. Between them the VM's own say nothing then.
      def stack(record)
        own = record.frames.rindex { |frame| !frame.system? } unless record.ruby_frames.empty?
        frames = own ? record.frames.first(own + 1) : record.frames
        pairs = frames.map { |frame| [@terminal.inert(frame.name), place(frame)] }
        pairs += record.ruby_frames.first(RUBY_FRAMES).map { |frame| [@terminal.inert(frame.label), short(frame.to_s)] }
        lines(pairs) + more(record.ruby_frames.size - RUBY_FRAMES)
      end

      def lines(pairs)
        width = [pairs.map { |name, _| name.size }.max.to_i, 40].min
        pairs.map { |name, place| "    #{name.ljust(width)}  #{@terminal.style(place, :dim)}".rstrip }
      end

      def more(count)
        count.positive? ? ["    #{@terminal.sign("…")} #{count} more frame#{"s" if count > 1} of Ruby"] : []
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
    end

    # Lost blocks for a terminal: record by record, each with its Ruby line and its native stack, then the sums.
    class Text
      # kinds: of the records that are shown. top: of each kind so many (0: all). directory: paths below it are shown
      # relative to it.
      def initialize(kinds: %i[definite indirect possible], top: 0, directory: nil, env: ENV)
        @kinds = kinds
        @top = top
        @directory = directory
        @env = env
      end

      # Write `leaks` (Leaks::Findings) to `io`.
      def render(leaks, io)
        @terminal = Terminal::Output.new(io, @env)
        @lines = LossLines.new(@terminal, directory: @directory)
        leaks.searches.each { |search| io.puts LossWords.search(search) }
        @kinds.each { |kind| render_kind(leaks.of(kind), io) }
        io.puts(*functions(leaks), "", *sums(leaks), *dropped(leaks),
                *LossWords.growths(leaks).map { |words| @terminal.inert(words) }, *LossWords.remarks(leaks))
      end

      private

      def render_kind(records, io)
        shown = @top.positive? ? records.first(@top) : records
        shown.each { |record| io.puts "", *@lines.of(record) }
        left = records.size - shown.size
        return unless left.positive?

        io.puts "", "#{left} more #{left == 1 ? "is" : "are"} #{LossWords::TITLES[records.first.kind]}"
      end

      # Those that lost blocks at more than one place: called from several lines, or by several ways.
      def functions(leaks)
        several = leaks.functions.select { |sum| sum.places > 1 }
        return [] if several.empty?

        shown = @top.positive? ? several.first(@top) : several
        ["", "lost by one C function, from several places:", *shown.map { |sum| "  #{@lines.function(sum)}" }]
      end

      def sums(leaks)
        @kinds.map do |kind|
          bytes, blocks = %w[bytes blocks].map { |unit| leaks.public_send("#{kind}_#{unit}") }
          text = "#{LossWords::TITLES[kind].ljust(16)} #{LossWords.amount(bytes, blocks)}"
          bytes.positive? || blocks.positive? ? @terminal.style(text, LossLines::COLORS[kind]) : text
        end
      end

      def dropped(leaks)
        LossWords.dropped(leaks).map { |words| "not shown: #{words}" }
      end
    end
  end
end
