# frozen_string_literal: true

require "test_helper"
require "json"
require "support/heap_answers"
require "heapline/heap/question"

module Heapline
  module Heap
    class QuestionTest < Minitest::Test
      include HeapAnswers

      def test_the_end_of_the_file_says_the_format
        assert_equal 0, ask("histo", "a", "-o", output("h.json")).status
        assert_equal "histo", JSON.parse(File.read(output("h.json")))["kind"]
        ask("histo", "a", "-o", output("h.csv"))
        assert_match(/\Aclass,defined_path,defined_lineno,bytes/, File.read(output("h.csv")))
        ask("histo", "a", "-o", output("h.csv"), "--format", "text")
        assert_match(/\Aheapline heap histo/, File.read(output("h.csv")))
        assert_equal 0o600, File.stat(output("h.csv")).mode & 0o777
      end

      def test_what_is_no_format_here
        result = ask("histo", "a", "-o", output("h.pb.gz"))
        assert_equal 2, result.status
        assert_equal "heapline: heap histo cannot be written as pprof: text, json, csv (heapline help heap histo)\n",
                     result.err
        assert_empty @needs
      end

      def test_what_could_not_be_read_is_status_one
        result = ask("histo", "a", problems: ["ends in the middle of a line at byte 9"])
        assert_equal 1, result.status
        assert_match(/String.*Not all of it could be read.*middle of a line at byte 9/m, result.out)
      end

      def test_one_dump_at_a_time
        assert_match(/which dump\? give a file, or -/, ask("histo").err)
        assert_match(/one dump at a time, not also b c/, ask("histo", "a", "b", "c").err)
      end

      # Progress goes to a terminal only.
      class Terminal < StringIO
        def tty? = true
      end

      def test_progress_is_shown_and_removed_also_when_it_ends_early
        opener = ->(*) { raise Interrupt }
        err = Terminal.new
        replacing(HeapDump, :open, opener) do
          assert_raises(Interrupt) { CLI.start(%w[heap histo a], out: StringIO.new, err: err) }
        end
        refute_match(/\S/, err.string.gsub(/\e\[K|\r/, ""))
      end

      def test_where_the_extension_was_not_built
        missing = -> { raise Error, Extension::ALL.fetch(:heap).missing }
        result = replacing(HeapDump, :native, missing) { heapline("heap", "histo", "a") }
        assert_equal 3, result.status
        assert_match(/apt-get install .*libsimdjson-dev/, result.err)
      end
    end
  end
end
