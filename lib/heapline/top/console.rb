# frozen_string_literal: true

require "io/console"
require "io/wait"

module Heapline
  module Top
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

    # The terminal: takes it over, draws frames, reads keys, and gives it back as it was.
    class Console
      # Alternate screen, no cursor, no wrapping at the margin; and back.
      ENTER = "\e[?1049h\e[?25l\e[?7l\e[H\e[2J"
      LEAVE = "\e[?7h\e[?25h\e[?1049l"
      # The terminal shows what lies between both at once. Those that do not know it ignore it.
      BEGIN_FRAME = "\e[?2026h"
      END_FRAME = "\e[?2026l"
      # So long (seconds) may the rest of a sequence of one key be on its way.
      SEQUENCE = 0.05

      attr_reader :output

      def initialize(input, output)
        @input = input
        @output = output
        @keyboard = Keyboard.new
      end

      # While the block runs the terminal is ours.
      def open
        @mode = @input.console_mode
        take
        yield
      ensure
        give_back
      end

      # Take the terminal (again: a stopped program finds it in another state).
      def take
        @input.raw!(intr: true)
        @shown = []
        put(ENTER)
      end

      # A terminal that has gone needs nothing.
      def give_back
        put(LEAVE)
        @input.console_mode = @mode if @mode
      rescue SystemCallError, IOError
        nil
      end

      # [lines, columns]; a terminal that does not know its size has 24 and 80.
      def size
        @output.winsize.zip([24, 80]).map { |known, usual| known.positive? ? known : usual }
      end

      # Show `lines`, each no wider than the terminal. Only those that changed are written, in one piece. A line is
      # erased before it is written: behind its last column the cursor would still stand on that.
      def draw(lines)
        changed = lines.each_with_index.reject { |line, i| @shown[i] == line }
        text = changed.map { |line, i| "\e[#{i + 1};1H\e[K#{line}" }.join
        text += "\e[#{lines.size + 1};1H\e[J" if lines.size < @shown.size
        @shown = lines
        put("#{BEGIN_FRAME}#{text}#{END_FRAME}") unless text.empty?
      end

      # The size has changed: what the terminal made of the old lines is unknown.
      def forget
        @shown = []
        put("\e[2J")
      end

      # Is one there?
      def key?
        !@input.wait_readable(0).nil?
      end

      # Wait until there is a key, `wake` can be read, or `seconds` have gone; the keys. Raises EOFError where the
      # terminal has gone.
      def keys(seconds, wake)
        ready, = IO.select([@input, wake], nil, nil, seconds)
        return [] unless ready&.include?(@input)

        keys = @keyboard.feed(receive)
        keys += rest while @keyboard.pending?
        keys
      end

      private

      def rest
        @input.wait_readable(SEQUENCE) ? @keyboard.feed(receive) : @keyboard.flush
      end

      def receive
        @input.read_nonblock(1024)
      rescue IO::WaitReadable
        ""
      rescue Errno::EIO
        raise EOFError, "the terminal has gone"
      end

      def put(text)
        @output.write(text)
        @output.flush
      end
    end
  end
end
