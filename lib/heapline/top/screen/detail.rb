# frozen_string_literal: true

require_relative "../../terminal/display_width"
require_relative "../../terminal/sparkline"
require_relative "../../figures/units"
require_relative "columns"

module Heapline
  module Top
    class Screen
      # One location with all its figures, how its live bytes moved, and its source.
      class Detail
        # row: of Top::Activity; nil where it has gone.
        def initialize(scene, row, terminal)
          @scene = scene
          @row = row
          @terminal = terminal
        end

        def lines
          return ["  nothing is counted there"] unless @row

          [*name, "", *figures, "", *trend, *source]
        end

        private

        def name
          place = @row.location
          parts = [place.label && @terminal.inert(place.label),
                   (@terminal.inert(@row.class_name || @row.type) if @row.site.kind == :object),
                   owner(place),
                   place.library && "malloc called by #{@terminal.inert(place.library)}",
                   @row.tag && "tag #{@terminal.inert(@row.tag)}"]
          path = folded(@terminal.inert(place.to_s), [@terminal.width - 2, 2].max)
          [*path.map { |line| "  #{@terminal.style(line, :bold)}" }, *wrapped(parts)]
        end

        # Whose the place is. What is special, as what loading took, is of several.
        def owner(place)
          return "gem #{@terminal.inert(place.gem)}" if place.gem

          "application" unless place.special
        end

        # A long path on as many lines as it needs.
        def folded(text, width)
          text.each_char.with_object([+""]) do |char, lines|
            lines << +"" if Terminal::DisplayWidth.of(lines.last + char) > width
            lines.last << char
          end
        end

        def figures
          site = @row.site
          [*wrapped(live(site)), *wrapped(flow(site)), *wrapped(rates), *wrapped(life(site))]
        end

        def live(site)
          mean = site.live_blocks.positive? ? site.live_bytes / site.live_blocks : nil
          ["live #{Units.bytes(site.live_bytes)} in #{Units.count(site.live_blocks)} #{things("blocks")}",
           mean && "#{Units.bytes(mean)} each", "growth #{Units.bytes(@row.growth_bytes)}",
           "retained #{Units.bytes(site.retained_bytes)}"]
        end

        def flow(site)
          ["allocated #{Units.bytes(site.bytes_allocated)} in #{Units.count(site.allocations)} #{things("calls")}",
           "#{Units.count(site.frees)} frees",
           (share = temporary(site)) && "#{share} of them temporary"]
        end

        # Where there is no GC, the time that blocks lived says it.
        def temporary(site)
          return unless ruby?

          share = Figures::SiteFigures.temporary_share(site.temporary, site.frees)
          share && Figures::SiteFigures::TEMPORARY_SHARE.print(share)
        end

        def rates
          live, allocated = %i[live_bytes bytes_allocated].map { |figure| Columns.rate(@row, figure) }
          live ? ["now #{live}/s live", "allocating #{allocated}/s"] : []
        end

        def life(site)
          return ["nothing of it was freed"] if site.frees.zero?

          generations = "freed #{things("blocks")} lived #{format("%.1f", site.mean_age)} GCs on average, at most " \
                        "#{site.age_max}"
          return [generations] if site.kind == :object # how long they lived in time is not counted

          mean, most = [site.mean_age_ms, site.age_ms_max].map { |time| Units.duration(time / 1000.0) }
          time = "#{mean} on average, at most #{most}"
          ruby? ? [generations, time] : ["freed blocks lived #{time}"]
        end

        def ruby?
          @scene.watch.now.root.ruby?
        end

        def things(blocks)
          @row.site.kind == :object ? "objects" : blocks
        end

        def wrapped(parts)
          parts = parts.compact
          parts.empty? ? [] : @terminal.wrap(parts).map { |line| "  #{line}" }
        end

        def trend
          values = @scene.watch.trend(%i[location detail], @row)&.values || []
          return [] if values.size < 2

          line = Terminal::Sparkline.text(values, width: @terminal.width - 4, unicode: @terminal.unicode?)
          least, most = values.minmax.map { |value| Units.bytes(value) }
          ["  live while you watch: #{least} to #{most}", "  #{@terminal.style(line, :cyan)}", ""]
        end

        def source
          return [] unless @scene.source

          width = @scene.source.map { |line| line.number.to_s.length }.max
          @scene.source.map do |line|
            text = "  #{line.here ? ">" : " "} #{line.number.to_s.rjust(width)}  #{@terminal.inert(line.text)}"
            line.here ? @terminal.style(text, :bold) : text
          end
        end
      end
    end
  end
end
