# frozen_string_literal: true

# A leak in a C extension as it was released: redcarpet 3.3.2 loses a block of 312 bytes with every renderer.
#
#   gem install redcarpet -v 3.3.2 && REDCARPET=3.3.2 heapline ruby examples/redcarpet_leak.rb
#   gem install redcarpet -v 3.5.0 && REDCARPET=3.5.0 heapline ruby examples/redcarpet_leak.rb
#
# With 3.3.2 the line of `new` shows 500,000 allocations and 400,000 frees, and has grown by 31.2 MB: 100,000 blocks of
# 312 bytes. (The mean size of the line's blocks would give 22.7 MB: they are not all of one size.) With 3.5.0 it has
# not grown. No Ruby object is left in either case, so a tool that counts objects sees nothing. The first argument is
# the number of documents (100,000).
gem "redcarpet", ENV.fetch("REDCARPET", ">= 3")
require "redcarpet"

(ARGV.first || 100_000).to_i.times do
  Redcarpet::Markdown.new(Redcarpet::Render::HTML, {})
                     .render("hi")
end
GC.start
