# frozen_string_literal: true

require_relative "../inert"
require_relative "../units"

module Heapline
  module Format
    class Html
      # What the page shows of a Model::Growth, as plain values: the log in words, the processes' memory, the series.
      class GrowthData
        MEMORY = { "rss" => "RSS", "malloc_live" => "malloc live" }.freeze

        def initialize(growth)
          @growth = growth
        end

        # facts: Array of String; memory and series: Arrays of Hashes, points of which are [seconds, bytes].
        def to_h
          { facts: facts, memory: memory, series: @growth.series.map { |one| series(one) } }
        end

        private

        def facts
          processes = @growth.processes
          hosts = processes.map(&:host).uniq.size
          [count(processes.size, "process", "processes"), (count(hosts, "host", "hosts") if hosts > 1),
           *(times if @growth.duration)].compact
        end

        def times
          first, last = [@growth.first_at, @growth.last_at].map { |time| time.getutc.strftime("%Y-%m-%d %H:%M") }
          [Units.duration(@growth.duration), "#{first} to #{last} UTC"]
        end

        def count(number, one, many)
          "#{Units.count(number)} #{number == 1 ? one : many}"
        end

        # The figures of the processes as a whole that the log has.
        def memory
          MEMORY.filter_map do |key, name|
            one = @growth.memory[key]
            { name: name, points: one.points, slope: number(one.slope_bytes_per_hour) } if one
          end
        end

        def series(one)
          names = %i[location label gem library tag].to_h { |name| [name, text(one.public_send(name))] }
          { **names, processes: one.processes, verdict: one.verdict, slope: number(one.slope_bytes_per_hour),
                     slope_low: number(one.slope_low), slope_high: number(one.slope_high),
                     live_bytes: one.live_bytes, growth_bytes: one.growth_bytes, points: one.points }
        end

        def text(name)
          name && Inert.text(name)
        end

        # JSON knows neither NaN nor infinity; the page has no use for fractions of a byte.
        def number(value)
          value.round if value&.finite?
        end
      end
    end
  end
end
