# frozen_string_literal: true

require "heapline"
require "heapline/top/observer"
require "heapline/top/screen"
require "heapline/top/watch"
require_relative "many_lines"

# A frame of `heapline top` of so many lines that allocated, of the process itself. Without heapline there is none.
LINES = Integer(ARGV.first)

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

def frame(watch, observer)
  watch.add(observer.read)
  Heapline::Top::Screen::Rows.new(Heapline::Top::Screen::View.new, watch.activity.rows(:location)).around(50)
end

ManyLines.each_file(LINES) { |file| file.call("s") }
begun = now
if Heapline.enabled?
  directory = Heapline::Accounting::FlightDirectory.new
  observer = Heapline::Top::Observer.new(directory, directory.find(Process.pid))
  watch = Heapline::Top::Watch.new
  frame(watch, observer)
  begun = now
  frame(watch, observer)
end
puts format("%.6f", (now - begun) * 1e6 / LINES)
