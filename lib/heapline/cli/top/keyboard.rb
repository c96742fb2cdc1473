# frozen_string_literal: true

module Heapline
  module CLI
    class Top
      # From what a terminal sends to keys: Symbols for those with a name, one-character Strings for the others.
      class Keyboard
        NAMED = {
          "\e[A" => :up, "\e[B" => :down, "\e[C" => :right, "\e[D" => :left, "\eOA" => :up, "\eOB" => :down,
          "\eOC" => :right, "\eOD" => :left, "\e[5~" => :page_up, "\e[6~" => :page_down, "\e[H" => :home,
          "\e[F" => :end, "\eOH" => :home, "\eOF" => :end, "\e[1~" => :home, "\e[4~" => :end, "\e[7~" => :home,
          "\e[8~" => :end,
          "\r" => :enter, "\n" => :enter, "\t" => :tab, "\x7f" => :backspace, "\b" => :backspace, "\e" => :escape
        }.freeze
        # A whole sequence, and one that may go on.
        SEQUENCE = %r{\A(?:\e\[[0-?]*[ -/]*[@-~]|\eO[@-~])}
        PARTIAL = %r{\A\e(?:\[[0-?]*[ -/]*|O)?\z}

        def initialize
          @rest = +"".b
        end

        # The keys (Array) that `bytes` completes. Sequences that have no name are passed over.
        def feed(bytes)
          @rest << bytes.b
          keys = []
          while (text = shift)
            keys << key(text)
          end
          keys.compact
        end

        # Is what came last the beginning of a sequence, or the key Esc? Only time tells.
        def pending?
          !@rest.empty?
        end

        # Nothing more came: what is there are keys of their own.
        def flush
          escape = @rest.start_with?("\e")
          @rest.clear
          escape ? [:escape] : []
        end

        private

        # The first whole key of the rest, or nil.
        def shift
          return nil if @rest.empty? || @rest.match?(PARTIAL)

          @rest.slice!(0, @rest[SEQUENCE]&.bytesize || (@rest.start_with?("\e") ? 1 : character) || (return nil))
        end

        # Bytes of the UTF-8 character at the beginning; nil where it is not whole yet.
        def character
          size = case @rest.getbyte(0)
                 when 0xC0..0xDF then 2
                 when 0xE0..0xEF then 3
                 when 0xF0..0xF7 then 4
                 else 1
                 end
          size if @rest.bytesize >= size
        end

        def key(text)
          NAMED.fetch(text) do
            utf8 = text.dup.force_encoding(Encoding::UTF_8)
            utf8 if utf8.valid_encoding? && utf8.match?(/\A[[:print:]]\z/)
          end
        end
      end
    end
  end
end
