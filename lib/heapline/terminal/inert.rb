# frozen_string_literal: true

module Heapline
  # Names come from programs and files that may be hostile: escape sequences, line breaks, NUL, bidirectional
  # controls, invalid bytes. Here they become visible text that a terminal shows and does not obey.
  # @api private
  module Inert
    # Other (control, format, surrogate, private, unassigned), and line and paragraph separators.
    UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/
    # The same within ASCII.
    CONTROL = /[\x00-\x1f\x7f]/

    # `text` as UTF-8 without anything that acts; ascii: true also escapes all that is not ASCII.
    def self.text(text, ascii: false)
      return text if plain?(text)

      utf8 = valid(text).gsub(UNSAFE) { |char| escape(char) }
      ascii ? utf8.gsub(/[^\x20-\x7e]/) { |char| escape(char) } : utf8
    end

    # `text` as valid UTF-8: invalid bytes become \xHH.
    def self.valid(text)
      return text if plain?(text)

      text.to_s.dup.force_encoding(Encoding::UTF_8).scrub do |bytes|
        bytes.unpack("C*").map do |b|
          format("\\x%02X", b)
        end.join
      end
    end

    # Nearly all names are ASCII that is shown as it is: for them nothing is made.
    def self.plain?(text)
      text.is_a?(String) && text.encoding == Encoding::UTF_8 && text.ascii_only? && !text.match?(CONTROL)
    end

    def self.escape(char)
      char.ord < 0x80 ? format("\\x%02X", char.ord) : format("\\u{%X}", char.ord)
    end
    private_class_method :plain?, :escape
  end
end
