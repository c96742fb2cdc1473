# frozen_string_literal: true

require "heapline/top/screen"
require "heapline/top/fleet"
require_relative "snapshots"

# What a watcher of a process may have seen, with known figures, for the tests of `heapline top`.
module Scenes
  include Snapshots

  START = Time.new(2027, 1, 15, 8, 0, 0, "+00:00")

  # A Reading at second `at` of a process with these sites.
  def reading(*sites, at: 0, rss: 118_300_000, others: [], stopped: false, **attributes)
    times = { started_at: START, ended_at: nil, taken_at: START + 3600 + at }
    root = snapshot(*sites, state: :running, **times, **attributes)
    Heapline::Top::Reading.new([root, *others], at: at.to_f, rss_bytes: rss, stopped: stopped)
  end

  # A Watch that has seen these readings.
  def watch(*readings)
    readings.each_with_object(Heapline::Top::Watch.new) { |reading, watch| watch.add(reading) }
  end

  # Some lines of an application `seconds` after its start: one leaks, one caches through a library, others are busy.
  def shop(seconds)
    [site("/app/lib/orders.rb", 41, label: "Receipts#render", live_bytes: 40_000_000 + (500_000 * seconds),
                                    live_blocks: 8000 + (100 * seconds), allocations: 9000 + (200 * seconds),
                                    bytes_allocated: 50_000_000 + (900_000 * seconds), frees: 1000 + (100 * seconds),
                                    temporary: 900, age_sum: 2000, age_ms_sum: 9000),
     site("/app/lib/cache.rb", 88, label: "Cache#put", library: "libxml2.so.2", live_bytes: 1_020_000,
                                   live_blocks: 8211, allocations: 8211, bytes_allocated: 1_020_000),
     site("/usr/lib/ruby/gems/3.1.0/gems/rack-3.0.8/lib/rack/utils.rb", 7, tag: "orders#show", live_bytes: 3000,
                                                                           allocations: 5000 * seconds,
                                                                           bytes_allocated: 2_000_000 * seconds,
                                                                           frees: 5000 * seconds,
                                                                           temporary: 4900 * seconds),
     site("/app/日本語/記憶.rb", 3, label: "\e[31mmain", live_bytes: 700)]
  end

  # A Scene of that application after ten seconds. The trends have three values.
  def shop_scene(view, source: nil, message: nil, **others)
    seen = watch
    [0, 5, 10].each do |second|
      seen.add(reading(*shop(second), at: second, rss: 90_000_000 + (1_000_000 * second), **others))
      rows = seen.activity.rows(view.by, within: view.within)
      seen.follow([view.by, view.within], rows)
      seen.follow(%i[location detail], rows)
    end
    Heapline::Top::Screen::Scene.new(watch: seen, rows: seen.activity.rows(view.by, within: view.within),
                                     source: source, directory: "/app", message: message)
  end

  # A Scene of two processes, one of them stopped.
  def fleet_scene(message: nil)
    rows = [process(4711, "puma 6.4 (tcp://0.0.0.0:3000)", 90), process(4712, "sidekiq \e[2J", 30, stopped: true)]
    Heapline::Top::Screen::Scene.new(rows: rows, message: message)
  end

  # The row of a process that has run so many seconds, and has an RSS of as many MB.
  def process(pid, command, seconds, stopped: false)
    seen = watch(*[0, 1].map { |at| reading(*shop(seconds + at), at: at, pid: pid, command: [command]) })
    Heapline::Top::Fleet::Row.new(name: pid, snapshot: seen.now.root, rss_bytes: seconds * 1_000_000,
                                  stopped: stopped, figures: seen.activity.total)
  end

  def view(**fields)
    Heapline::Top::Screen::View.new(**fields)
  end

  # A terminal that is no terminal: no colours.
  def terminal(width, env: { "LANG" => "C.UTF-8" })
    Heapline::Terminal::Output.new(StringIO.new, env, width: width)
  end

  # A terminal with colours.
  def coloured(width)
    io = StringIO.new
    def io.tty? = true
    Heapline::Terminal::Output.new(io, { "LANG" => "C.UTF-8", "TERM" => "xterm" }, width: width)
  end
end
