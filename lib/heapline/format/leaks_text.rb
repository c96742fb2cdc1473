# frozen_string_literal: true

require_relative "loss_lines"
require_relative "loss_words"
require_relative "terminal"

module Heapline
  module Format
    # Lost blocks for a terminal: record by record, each with its Ruby line and its native stack, then the sums.
    class LeaksText
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
        @lines = LossLines.new(@terminal, directory: @directory)
        leaks.searches.each { |search| io.puts LossWords.search(search) }
        @kinds.each { |kind| render_kind(leaks.of(kind), io) }
        io.puts "", *sums(leaks), *dropped(leaks), *LossWords.remarks(leaks)
      end

      private

      def render_kind(records, io)
        shown = @top.positive? ? records.first(@top) : records
        shown.each { |record| io.puts "", *@lines.of(record) }
        left = records.size - shown.size
        io.puts "", "#{left} more are #{LossWords::TITLES[records.first.kind]}" if left.positive?
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
