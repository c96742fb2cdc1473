# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "chunky_png"

# An image is drawn, written as PNG and read again, pixel for pixel in Ruby.
Workload.run(full: 60, quick: 1) do |rounds|
  sizes = Array.new(rounds) do |round|
    image = ChunkyPNG::Image.new(160, 160, ChunkyPNG::Color::WHITE)
    40.times { |i| image.circle(80, 80, i * 2, ChunkyPNG::Color.rgb(i * 6, round, 255 - (i * 6))) }
    blob = image.to_blob
    Workload.check(ChunkyPNG::Image.from_blob(blob) == image, "the image came back changed")
    blob.bytesize
  end
  sizes.join(" ")
end
