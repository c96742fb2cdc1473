# frozen_string_literal: true

require_relative "support"

# Lee's way of laying wires on a board: a wave of distances from one end to the other, and back along it. Arrays of
# small integers, many short lists. (C. Y. Lee, An Algorithm for Path Connections and Its Applications, 1961.)
class Board
  Point = Struct.new(:x, :y)

  def initialize(size)
    @size = size
    @used = Array.new(size * size, 0)
  end

  # Length of the wire in fields.
  def lay(from, to)
    path = back(wave(from, to), from, to)
    path.each { |point| @used[at(point)] += 1 }
    path.size
  end

  private

  def at(point)
    (point.y * @size) + point.x
  end

  def neighbours(point)
    [Point.new(point.x - 1, point.y), Point.new(point.x + 1, point.y),
     Point.new(point.x, point.y - 1), Point.new(point.x, point.y + 1)]
      .select { |other| other.x.between?(0, @size - 1) && other.y.between?(0, @size - 1) }
  end

  # What a field costs from `from` on, where the wave came; a field that has wires costs more.
  def wave(from, to)
    costs = Array.new(@size * @size)
    costs[at(from)] = 0
    front = [from]
    until front.empty?
      front = front.flat_map { |point| spread(point, costs) }.uniq
      reached = costs[at(to)]
      break if reached && front.all? { |point| costs[at(point)] >= reached }
    end
    costs
  end

  def spread(point, costs)
    neighbours(point).select do |other|
      cost = costs[at(point)] + 1 + (@used[at(other)] * 4)
      known = costs[at(other)]
      costs[at(other)] = cost if !known || cost < known
    end
  end

  def back(costs, from, to)
    path = [to]
    until path.last == from
      path << neighbours(path.last).select { |other| costs[at(other)] }.min_by { |other| costs[at(other)] }
    end
    path
  end
end

Workload.run(full: 240, quick: 2) do |wires|
  board = Board.new(48)
  random = Random.new(1961)
  lengths = Array.new(wires) do
    ends = Array.new(2) { Board::Point.new(random.rand(48), random.rand(48)) }
    length = board.lay(*ends)
    Workload.check(length > (ends[0].x - ends[1].x).abs, "a wire of #{length} fields is too short")
    length
  end
  lengths.join(" ")
end
