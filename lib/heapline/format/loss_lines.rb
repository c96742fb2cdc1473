# frozen_string_literal: true

require_relative "loss_words"

module Heapline
  module Format
    # One loss record as lines for people: how much, the line of Ruby, the native stack.
    class LossLines
      COLORS = { definite: :red, indirect: :red, possible: :yellow, reachable: :dim }.freeze

      # terminal: Terminal. directory: paths below it are shown relative to it.
      def initialize(terminal, directory: nil)
        @terminal = terminal
        @directory = directory
      end

      # Array of Strings for a Model::LossRecord.
      def of(record)
        title = "#{LossWords.amount(record.bytes, record.blocks)} #{LossWords::TITLES[record.kind]}"
        title += ", and with it #{LossWords.amount(record.led_bytes, record.led_blocks)}" if record.led_blocks.positive?
        [@terminal.style(title, COLORS[record.kind]), "  #{ruby(record)}", *frames(record.frames),
         *("    held by #{@terminal.inert(record.held_by.to_s)}" if record.held_by)]
      end

      private

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
    end
  end
end
