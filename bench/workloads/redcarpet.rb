# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "redcarpet"

# A C extension that allocates and frees much for each small document.
Workload.run(full: 400_000, quick: 500) do |count|
  bytes = 0
  count.times { bytes += Redcarpet::Markdown.new(Redcarpet::Render::HTML, {}).render("hi **you**").bytesize }
  Workload.check(bytes == count * "<p>hi <strong>you</strong></p>\n".bytesize, "#{bytes} bytes of HTML")
  bytes
end
