# frozen_string_literal: true

require_relative "loss_words"

module Heapline
  module Format
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

      # Array of Strings for a Model::LossRecord.
      def of(record)
        title = "#{LossWords.amount(record.bytes, record.blocks)} #{LossWords::TITLES[record.kind]}"
        title += ", and with it #{LossWords.amount(record.led_bytes, record.led_blocks)}" if record.led_blocks.positive?
        [@terminal.style(title, COLORS[record.kind]), "  #{ruby(record)}", *stack(record),
         *("    held by #{@terminal.inert(record.held_by.to_s)}" if record.held_by)]
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
        count.positive? ? ["    #{@terminal.sign("…")} #{count} more frames of Ruby"] : []
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
  end
end
