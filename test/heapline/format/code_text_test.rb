# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/format/code"
require "heapline/format/code_growth"
require "heapline/format/code_text"
require "support/code_lines"

module Heapline
  module Format
    class CodeTextTest < Minitest::Test
      include CodeLines

      def text(sheet, **options)
        io = StringIO.new
        CodeText.new(directory: "/g", env: { "LANG" => "C.UTF-8", "COLUMNS" => "100" }, **options).render(sheet, io)
        io.string
      end

      def test_a_process
        shown = text(Code.new(by: :file).sheet(code, "4711"), more: [["heapline code 4711 --after 60", "what grows?"]])
        assert_match(/\Aheapline code\n  pid 4711 · Ruby 3\.4\.1 · [-\d]+ [:\d]+ · GC 9\n\n  6 pieces/, shown)
        assert_match(/^  1\.10 kB       2       0        1   700 B  gems.shop-1\.2.shop\.rb$/, shown)
        assert_match(/\n\n  next  heapline code 4711 --after 60   what grows\?\n\z/, shown)
      end

      def test_two_moments
        growth = Model::CodeGrowth.new(code, code(LATER))
        shown = text(CodeGrowth.new(by: :method).sheet(growth, %w[old.code 4711]))
        assert_match(/^  before  old\.code · Ruby.* GC 9\n  after   pid 4711 · .* GC 20$/, shown)
        assert_match(/^    500 B       1       1     0 B  1\.40 kB  1\.90 kB  render  app\.erb:1$/, shown)
      end

      def test_hostile_names_are_inert
        shown = text(Code.new.sheet(code(TEXT.gsub("app.erb", 'app\\u001b[31m\\u202e.erb')), "a\e.code"))
        refute_match(/[\e\u202e]/, shown)
        assert_match(/app\\x1B\[31m\\u\{202E\}\.erb/, shown)
      end
    end
  end
end
