# frozen_string_literal: true

require_relative "support"

# Strings made 200 frames deep: a tool that walks the whole stack pays for every frame. None is embedded in its object,
# which holds 640 bytes at most.
module DeepStacks
  def self.descend(depth, count)
    return descend(depth - 1, count) unless depth.zero?

    bytes = 0
    count.times { bytes += ("x" * 700).bytesize + ("y" * 800).bytesize }
    bytes
  end
end

Workload.run(full: 80, quick: 1) do |rounds|
  bytes = Array.new(rounds) { |round| DeepStacks.descend(200 + (round % 10), 50_000) }.sum
  Workload.check(bytes == rounds * 50_000 * 1_500, "#{bytes} bytes after #{rounds} rounds")
  bytes
end
