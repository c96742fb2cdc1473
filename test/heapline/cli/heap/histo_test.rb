# frozen_string_literal: true

require "test_helper"
require "json"
require "support/heap_answers"
require "heapline/cli/heap/histo"

module Heapline
  module CLI
    class Heap
      class HistoTest < Minitest::Test
        include HeapAnswers

        def test_by_class
          result = ask("histo", "app.heap")
          assert_equal [0, ""], [result.status, result.err]
          assert_match(/^ +2\.60 kB +60\.0 % +5 +200 B  String$/, result.out)
          assert_equal [{}], needs
        end

        def test_options
          assert_equal ["/srv/shop/app/session.rb:14", "(not traced)"],
                       (asked("histo", "a", "--by", "line", "--top", "2")["groups"].map { |row| row["line"] })
          assert_equal 3, asked("histo", "a", "--min", "300")["groups"].size
          assert_equal "Array", asked("histo", "a", "--sort", "count")["groups"].last["class"]
        end

        def test_what_cannot_be_asked
          assert_equal [2, 2, 2], ([%w[--by method], %w[--sort name], %w[--top many]].map do |words|
            ask("histo", "a", *words).status
          end)
        end
      end
    end
  end
end
