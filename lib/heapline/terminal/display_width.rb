# frozen_string_literal: true

module Heapline
  module Terminal
    # How many columns a text takes on a terminal, and cutting to so many. The texts are inert (Inert), so the
    # only escape sequences in them are those of Terminal::Output#style, which take no column.
    module DisplayWidth
      # Two columns: East Asian wide and full-width characters, and signs that are shown as pictures.
      WIDE = /[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Yi}\p{Bopomofo}\p{Tangut}\p{Emoji_Presentation}]|
              [\u2329\u232A\u2FF0-\u303E\u309B-\u30FC\u3190-\u33FF\u4DC0-\u4DFF\uFE10-\uFE19\uFE30-\uFE6B]|
              [\uFF01-\uFF60\uFFE0-\uFFE6\u{1F200}-\u{1F265}]/x
      # Of these scripts and yet one column: half-width forms, numbers in circles, halves of a flag.
      NARROW = /[\u3248-\u324F\uFF61-\uFFDC\u{1F1E6}-\u{1F1FF}]/
      # None: marks that are put on the character before, and the inner parts of a Hangul syllable.
      ZERO = /[\p{Mn}\p{Me}\u1160-\u11FF\u{D7B0}-\u{D7FB}]/
      STYLE = /\e\[[\d;]*m/
      PIECE = /#{STYLE}|./m

      # Columns of `text`.
      def self.of(text)
        plain = text.include?("\e") ? text.gsub(STYLE, "") : text
        return plain.length if plain.ascii_only?

        shown = plain.gsub(ZERO, "")
        shown.length + shown.gsub(NARROW, "").scan(WIDE).size
      end

      # The first `width` columns of `text`; `sign` stands at the end of what was cut off. Styles that were begun are
      # ended.
      def self.first(text, width, sign: "")
        return text if of(text) <= width

        room = width - of(sign)
        kept = +""
        text.scan(PIECE) do |piece|
          room -= piece.start_with?("\e") ? 0 : of(piece)
          break if room.negative?

          kept << piece
        end
        "#{kept}#{sign if of(sign) <= width}#{"\e[0m" if kept.include?("\e")}"
      end

      # The last `width` columns of a text without styles, behind `sign` where something was cut off.
      def self.last(text, width, sign: "")
        return text if of(text) <= width

        room = width - of(sign)
        kept = text.each_char.reverse_each.take_while { |char| (room -= of(char)) >= 0 }
        "#{sign if of(sign) <= width}#{kept.reverse.join}"
      end

      # `text` filled with blanks to `width` columns.
      def self.fill(text, width)
        text + (" " * [width - of(text), 0].max)
      end
    end
  end
end
