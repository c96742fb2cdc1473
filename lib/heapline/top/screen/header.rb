# frozen_string_literal: true

require_relative "../../terminal/display_width"
require_relative "../../accounting/memory_lines"
require_relative "../../processes/process_tree"
require_relative "../../terminal/sparkline"
require_relative "../../figures/units"

module Heapline
  module Top
    class Screen
      # The lines above the table: how the process stands as a whole.
      class Header
        LINES = 5
        SPARK = 24

        def initialize(view, scene, terminal)
          @view = view
          @scene = scene
          @terminal = terminal
        end

        # At most `limit` lines: where there are few, memory goes first. The last is empty where there is room.
        def lines(limit)
          wanted = @scene.watch ? [title, memory, ledger, activity].compact : fleet
          kept = limit < wanted.size ? [wanted[1], wanted.last, *wanted].uniq.first(limit) : wanted
          lines = (wanted & kept).map { |parts| row(parts) }
          limit > wanted.size ? [*lines, ""] : lines
        end

        private

        # As many parts as there is room for; the first in any case.
        def row(parts)
          parts.compact.reduce do |line, part|
            longer = "#{line}#{@terminal.sign(" · ")}#{part}"
            Terminal::DisplayWidth.of(longer) <= @terminal.width ? longer : (break line)
          end
        end

        def title
          now = @scene.watch.now
          root = now.root
          [@terminal.style("heapline top", :bold), who(now), state(now), clock(root), age(root), command(root),
           ruby(root), root.allocator && @terminal.inert(root.allocator)]
        end

        def who(now)
          "pid #{now.root.pid}#{" and #{forked(now)} forked" if forked(now).positive?}"
        end

        def forked(now)
          now.snapshots.size - 1
        end

        def state(now)
          return @terminal.style(now.root.state.to_s, :red) unless running?
          return @terminal.style("stopped", :red) if now.stopped
          return @terminal.style("counting ended", :red) if now.root.stopped_at

          @terminal.style("paused", :yellow) if @view.paused
        end

        def clock(root)
          root.taken_at&.strftime("%H:%M:%S")
        end

        def age(root)
          root.started_at && root.taken_at &&
            "up #{Units.duration([root.taken_at - root.started_at, 0].max)}"
        end

        def command(root)
          Terminal::DisplayWidth.first(@terminal.inert(root.command.join(" ")), [@terminal.width / 3, 10].max,
                                       sign: @terminal.sign("…"))
        end

        def ruby(root)
          text = root.ruby && @terminal.inert(root.ruby)
          text && "Ruby #{text[/\Aruby (\S+)/, 1] || text}"
        end

        def memory
          watch = @scene.watch
          total = watch.activity.total
          rss = watch.now.rss_bytes
          [("RSS #{strong(rss)} #{spark(watch.rss)}" if rss),
           "live #{strong(total.live_bytes)} #{spark(watch.live)}",
           (change = Columns.rate(total, :live_bytes) if running?) && "#{change}/s",
           (rest(rss, total.live_bytes) if rss && !watch.now.ledger)]
        end

        # What RSS is made of, some seconds ago.
        def ledger
          now = @scene.watch.now
          return nil unless now.ledger

          first, *others = Accounting::MemoryLines.new(now.root, nil, @terminal, ledger: now.ledger).shares
          ["= #{first}", *others]
        end

        # RSS without live is the object heap, code, stacks, and what was freed but held.
        def rest(rss, live)
          rss > live ? "other #{Units.bytes(rss - live)}" : "#{Units.bytes(live - rss)} not resident"
        end

        def activity
          total = @scene.watch.activity.total
          ["growth #{Units.bytes(total.growth_bytes)} since #{since}", *failures, *(allocating(total) if running?),
           *collections(total)]
        end

        # What has ended has no rates.
        def running?
          @scene.watch.now.root.state == :running
        end

        # Of one process, and of a Ruby.
        def collections(total)
          root = @scene.watch.now.root
          ["#{Units.count(root.gc_count || 0)} GCs"] if root.ruby? && !total.merged
        end

        # What `heapline report` explains.
        def failures
          @scene.watch.now.root.failures.map do |name, count|
            @terminal.style("#{name.to_s.tr("_", " ")} #{Units.count(count)}", :red)
          end
        end

        def allocating(total)
          bytes, calls = %i[bytes_allocated allocations].map { |figure| Columns.rate(total, figure) }
          return ["rates come with the next reading"] unless bytes

          share = Columns::SITE::TEMPORARY_SHARE.text(total) if total.temporary_share && @scene.watch.now.root.ruby?
          ["allocating #{bytes}/s in #{calls} calls/s", share && "#{share} temporary"]
        end

        def since
          watch = @scene.watch
          return "your baseline at #{clock(watch.baseline.root)}" if watch.baseline

          root = watch.now.root
          start = root.older ? "counting began" : "the start"
          Accounting::MemoryLines::SINCE.fetch(Processes::ProcessTree.baseline_kind(watch.now.snapshots), start)
        end

        def fleet
          rows = @scene.rows
          total = ->(name) { Units.bytes(rows.sum { |row| row.public_send(name) || 0 }) }
          [[@terminal.style("heapline top", :bold), "#{rows.size} process#{"es" if rows.size != 1}",
            (@terminal.style("paused", :yellow) if @view.paused)],
           ["RSS #{total[:rss_bytes]}", "live #{total[:live_bytes]}", "growth #{total[:growth_bytes]}"]]
        end

        def strong(bytes)
          @terminal.style(Units.bytes(bytes), :bold)
        end

        def spark(trend)
          width = (@terminal.width / 6).clamp(0, SPARK)
          @terminal.style(Terminal::Sparkline.text(trend.values, width: width, unicode: @terminal.unicode?), :cyan)
        end
      end
    end
  end
end
