# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "stringio"
require "hexapdf"

# A document of many lines is laid out, written as PDF and read again.
Workload.run(full: 4_000, quick: 20) do |lines|
  composer = HexaPDF::Composer.new
  lines.times { |number| composer.text("Line #{number}: what was asked for, and what is there. " * 2) }
  file = StringIO.new("".b)
  composer.write(file)
  document = HexaPDF::Document.new(io: StringIO.new(file.string))
  pages = document.pages.count
  Workload.check(pages > lines / 120, "#{lines} lines are on #{pages} pages")
  pages
end
