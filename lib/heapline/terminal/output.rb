# frozen_string_literal: true

require_relative "inert"

module Heapline
  # @api private
  module Terminal
    # What the reader's screen can show: its width in columns, colours, characters beyond ASCII.
    class Output
      DEFAULT_WIDTH = 120
      CODES = { bold: "1", dim: "2", reverse: "7", red: "31", green: "32", yellow: "33", cyan: "36" }.freeze
      ASCII = { "▼" => "v", "·" => "-", "…" => "...", "—" => "-", "→" => "->", "←" => "<-", "±" => "+-" }.freeze

      attr_reader :width

      # io: where the text goes. env decides on colour (NO_COLOR, TERM=dumb), width (COLUMNS) and characters (LC_ALL,
      # LC_CTYPE, LANG). width: columns, where they are known already.
      def initialize(io, env = ENV, width: nil)
        tty = io.respond_to?(:tty?) && io.tty?
        @color = tty && env["NO_COLOR"].to_s.empty? && env["TERM"] != "dumb"
        @unicode = utf8?(env)
        @width = width || [width_of(io, env, tty), 40].max
        freeze
      end

      def color?
        @color
      end

      def unicode?
        @unicode
      end

      # `text` in a style of CODES where colours are shown.
      def style(text, name)
        color? && !text.empty? ? "\e[#{CODES.fetch(name)}m#{text}\e[0m" : text
      end

      # Our own signs, in ASCII where the locale has no others.
      def sign(text)
        unicode? ? text : text.gsub(/[▼·…—→←±]/, ASCII)
      end

      # A name from outside, made inert and shown in what the locale can print.
      def inert(text)
        Inert.text(text, ascii: !unicode?)
      end

      # Short statements in a row (Array of String), separated by dots or another sign, on as many lines as the width
      # asks for; what goes on is indented by `indent`. Two columns are left for the caller's margin.
      def wrap(parts, indent: "  ", separator: " · ")
        dot = sign(separator)
        parts.each_with_object([]) do |part, lines|
          next lines << part.dup if lines.empty?
          next lines << (indent + part) if (lines.last + dot + part).length > width - 2

          lines.last << dot << part
        end
      end

      private

      def utf8?(env)
        locale = %w[LC_ALL LC_CTYPE LANG].map { |name| env[name].to_s }.find { |value| !value.empty? }
        locale.to_s.match?(/utf-?8/i)
      end

      def width_of(io, env, tty)
        given = env["COLUMNS"].to_i
        return given if given.positive?
        return DEFAULT_WIDTH unless tty

        require "io/console"
        columns = io.winsize.last
        columns.positive? ? columns : DEFAULT_WIDTH
      rescue SystemCallError, NoMethodError
        DEFAULT_WIDTH
      end
    end
  end
end
