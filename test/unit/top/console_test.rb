# frozen_string_literal: true

require "test_helper"
require "support/terminal_program"
require "heapline/top/top_command"
require "heapline/top/console"

module Heapline
  module Top
    class ConsoleTest < Minitest::Test
      # A terminal: its own side, and that of the program.
      def setup
        super
        skip "no terminal can be opened here" unless TerminalProgram.possible?
        @outside, @inside = PTY.open
        @console = Top::Console.new(@inside, @inside)
        @wake, @waker = IO.pipe
      end

      def teardown
        [@outside, @inside, @wake, @waker].compact.each { |io| io.close unless io.closed? }
        super
      end

      # What was written until `text` came.
      def written(text)
        seen = +""
        until seen.include?(text)
          assert @outside.wait_readable(PATIENCE), "no #{text.inspect} in #{seen.inspect}"
          seen << @outside.readpartial(4096).force_encoding("UTF-8")
        end
        seen
      end

      def modes
        @inside.console_mode.inspect
      end

      # The flags of the terminal, as stty writes them.
      def flags
        IO.popen(["stty", "-g"], in: @inside, &:read)
      end

      def test_the_terminal_is_given_back_as_it_was
        before = flags
        @console.open { refute_equal before, flags }
        assert_equal before, flags
        text = written("\e[?1049l")
        assert_operator text.index(Top::Console::ENTER), :<, text.index(Top::Console::LEAVE)
      end

      def test_after_an_exception_too
        before = flags
        assert_raises(ArgumentError) { @console.open { raise ArgumentError } }
        assert_equal before, flags
        assert_includes written("\e[?1049l"), "\e[?25h"
      end

      def test_only_what_changed_is_written
        @console.open do
          @console.draw(%w[one two])
          assert_includes written("two"), "\e[1;1H\e[Kone\e[2;1H\e[Ktwo"
          @console.draw(%w[one three])
          refute_includes written("three"), "one"
          @console.draw(%w[one])
          assert_includes written("\e[J"), "\e[2;1H\e[J"
          @console.forget
          @console.draw(%w[one])
          assert_includes written("one"), "\e[2J"
        end
      end

      def test_its_size
        @inside.winsize = [12, 34]
        assert_equal [12, 34], @console.size
        @inside.winsize = [0, 0]
        assert_equal [24, 80], @console.size
      end

      def test_keys_and_waking
        @console.open do
          @outside.write("j\e[A")
          keys = []
          await { (keys += @console.keys(1, @wake)).size == 2 }
          assert_equal ["j", :up], keys
          @outside.write("\e")
          assert_equal [:escape], @console.keys(PATIENCE, @wake)
          @waker.write(".")
          assert_equal [], @console.keys(PATIENCE, @wake)
          assert_equal [], @console.keys(0, IO.pipe.first)
        end
      end

      def test_a_terminal_that_has_gone
        assert_raises(EOFError) do
          @console.open do
            @outside.close
            @console.keys(PATIENCE, @wake)
          end
        end
      end
    end

    class KeyboardTest < Minitest::Test
      def keys(*chunks)
        keyboard = Top::Keyboard.new
        found = chunks.flat_map { |chunk| keyboard.feed(chunk) }
        keyboard.pending? ? found + keyboard.flush : found
      end

      def test_characters
        assert_equal ["q", "?", " ", "日", "é"], keys("q? 日é")
      end

      def test_keys_with_names
        assert_equal %i[up down page_up page_down home end enter backspace tab],
                     keys("\e[A\eOB\e[5~\e[6~\e[H\eOF\r\x7f\t")
      end

      def test_escape_alone
        assert_equal [:escape], keys("\e")
        assert_equal [:escape, "x"], keys("\ex")
        assert_equal %i[escape escape], keys("\e\e")
      end

      def test_what_comes_in_pieces
        assert_equal [:up], keys("\e", "[", "A")
        assert_equal ["日"], keys("\xe6", "\x97\xa5")
      end

      def test_what_has_no_name_is_passed_over
        assert_equal ["q"], keys("\e[200~\e[<0;1;1M\x00\x01q")
        assert_equal ["q"], keys("\xffq")
      end

      def test_any_bytes_at_all
        random = Random.new(1)
        200.times { keys(random.bytes(40)).each { |key| assert(key.is_a?(Symbol) || key.match?(/\A[[:print:]]\z/)) } }
      end
    end
  end
end
