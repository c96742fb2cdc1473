# frozen_string_literal: true

require "test_helper"
require "heapline/cli/top"
require "heapline/cli/top/keyboard"

module Heapline
  module CLI
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
