# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/table/json_object"
require "heapline/heap/code_sheet"
require "heapline/heap/code_growth"
require "support/code_lines"
require "json"
require "heapline/heap_dump"
require "support/cli"
require "support/twin_answer"
require "heapline/heap/code_command"

module Heapline
  module Heap
    class CodeTextTest < Minitest::Test
      include CodeLines

      def text(sheet, **options)
        io = StringIO.new
        CodeText.new(directory: "/g", env: { "LANG" => "C.UTF-8", "COLUMNS" => "100" }, **options).render(sheet, io)
        io.string
      end

      def test_a_process
        shown = text(CodeSheet.new(by: :file).sheet(code, "4711"),
                     more: [["heapline code 4711 --after 60", "what grows?"]])
        assert_match(/\Aheapline code\n  pid 4711 · Ruby 3\.4\.1 · [-\d]+ [:\d]+ · GC 9\n\n  6 pieces/, shown)
        assert_match(/^  1\.10 kB       2       0        1   700 B  gems.shop-1\.2.shop\.rb$/, shown)
        assert_match(/\n\n  next  heapline code 4711 --after 60   what grows\?\n\z/, shown)
      end

      def test_two_moments
        growth = CodeGrowth.new(code, code(LATER))
        shown = text(CodeGrowthSheet.new(by: :method).sheet(growth, %w[old.code 4711]))
        assert_match(/^  before  old\.code · Ruby.* GC 9\n  after   pid 4711 · .* GC 20$/, shown)
        assert_match(/^    500 B       1       1     0 B  1\.40 kB  1\.90 kB  render  app\.erb:1$/, shown)
      end

      def test_hostile_names_are_inert
        shown = text(CodeSheet.new.sheet(code(TEXT.gsub("app.erb", 'app\\u001b[31m\\u202e.erb')), "a\e.code"))
        refute_match(/[\e\u202e]/, shown)
        assert_match(/app\\x1B\[31m\\u\{202E\}\.erb/, shown)
      end
    end

    class CodeJsonTest < Minitest::Test
      include CodeLines

      def test_one_object
        io = StringIO.new
        Table::SheetJson.new.render(CodeSheet.new.sheet(code, "4711"), io)
        object = JSON.parse(io.string)
        assert_equal({ "role" => nil, "source" => "4711", "pid" => 4711, "ruby" => "ruby 3.4.1 (2026)",
                       "at" => "2026-11-21T10:00:00.000000Z", "generation" => 9 }, object["dumps"].first)
        assert_equal ["code", true, 6, 2],
                     [object["kind"], object["complete"], *object["totals"].values_at("count", "copies")]
        assert_equal({ "site" => "lib/pages.rb:12", "bytes" => 1400, "count" => 4, "copies" => 2, "copy_bytes" => 700,
                       "unreached" => 0, "oldest" => 3, "newest" => 5, "live_bytes" => 5000, "example" => "0x20" },
                     object["by_site"].first)
      end
    end

    class CodeCommandTest < Minitest::Test
      include CliHelper
      include TwinAnswer

      def code(*options, text: CodeLines::TEXT)
        out, @task = ask_twin("code", *options, text: text + CodeLines::LAST)
        out
      end

      def path(name)
        File.join(@directory, name)
      end

      def dump(name, text)
        File.write(path(name), text + CodeLines::LAST)
        HeapDump.native
        path(name)
      rescue Error
        skip "this heapline was built without what reads heap dumps"
      end

      def test_help_says_how_many_rows_there_are
        assert_match(/ --top N +rows of each table \(20; 8 of several tables; 0: all\)$/, heapline("help", "code").out)
      end

      def test_a_process
        out = code
        assert_equal 4, @task
        assert_match(/^  6 pieces of code/, out)
        assert_match(/^  By the line that had it compiled$/, out)
        assert_match(/heapline heap find #{Process.pid}\.json 0x20 --path   what holds a copy\?/, out)
        assert_match(/next  heapline code #{Process.pid} --after 60 /, out)
      end

      def test_after_a_gc_as_json
        object = JSON.parse(code("--gc", "--json", "--by", "gem", "--sort", "copies", "--top", "1"))
        assert_equal 0x104, @task
        assert_equal([["(application)"], Process.pid.to_s],
                     [object["by_gem"].map { |row| row["gem"] }, object["dumps"][0]["source"]])
      end

      def test_kept_and_compared
        code("--save", path("early.code"))
        assert_equal 0o600, File.stat(path("early.code")).mode & 0o777
        dump("later.code", CodeLines::LATER)
        result = heapline("code", path("early.code"), path("later.code"), "--by", "method", "--format", "csv")
        assert_equal [0, ""], [result.status, result.err]
        assert_equal "render,app.erb,1,0x20,500,1,1,0,1400,1900", result.out.lines.last.chomp
      end

      def test_after_some_time
        flight = own_flight
        thread = Thread.new do
          answer_twin(flight, CodeLines::TEXT + CodeLines::LAST).join
          answer_twin(flight, CodeLines::LATER + CodeLines::LAST).join
        end
        result = heapline("code", "--after", "0.1", *PATIENTLY, Process.pid.to_s)
        thread.join
        assert_equal [0, ""], [result.status, result.err]
        assert_match(/^  growth 500 B in 1 pieces of code · 1 of them compiled again at the same place$/, result.out)
      end

      # A dump by heapline that was cut tells what it has.
      def test_a_dump_that_was_cut
        dump("cut.code", "")
        File.write(path("cut.code"), CodeLines::TEXT)
        result = heapline("code", path("cut.code"))
        assert_equal 1, result.status
        assert_match(/6 pieces of code.*its last line is missing/m, result.out)
      end

      def test_what_is_no_question
        { [] => /which process, or which heap dump/, %w[1 2 3] => /two to compare at most, not also 3/,
          %w[--after 5 a.json] => /--after goes with one PID/, %w[--save x 1 2] => /--save goes with one PID/,
          %w[--after 0 1] => /from 0\.1 to 86400/, %w[--gc a.json] => /--gc goes with a PID/,
          %w[-o x.html 1] => /code cannot be written as html/ }.each do |words, said|
          result = heapline("code", *words)
          assert_equal 2, result.status, words.inspect
          assert_match(said, result.err)
        end
      end

      def test_the_dead
        flight(pid: 4711)
        assert_match(/4711 is dead: it has no code any more/, heapline("code", "4711").err)
      end
    end
  end
end
