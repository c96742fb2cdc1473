# frozen_string_literal: true

require "json"
require "time"
require_relative "../errors"
require_relative "snapshot"

module Heapline
  module Model
    # From a report in JSON (Format::Json) back to a Snapshot. What JSON does not have (what was counted since the
    # baseline) is 0.
    module JsonReport
      FIGURES = (Site::ADDITIVE.grep_v(/\Asince_/) - %i[age_sum age_ms_sum]).freeze
      AGES = { age_sum: "age_sum_generations", age_max: "age_max_generations", age_ms_sum: "age_sum_ms",
               age_ms_max: "age_max_ms" }.freeze
      # Fields of ObjectSite => keys.
      OBJECTS = { allocated: "allocated", freed: "freed", growth: "growth", retained: "retained",
                  slot_bytes_allocated: "slot_bytes_allocated", slot_bytes_freed: "slot_bytes_freed",
                  growth_bytes: "growth_slot_bytes", retained_bytes: "retained_slot_bytes", temporary: "temporary",
                  age_sum: "age_sum_generations", age_max: "age_max_generations" }.freeze
      TIMES = { started_at: "started_at", ended_at: "ended_at", taken_at: "taken_at" }.freeze

      # text: the JSON; name: what it is called in messages. Raises Error where it is no report with sites.
      def self.parse(text, name)
        data = JSON.parse(text)
        raise Error, "#{name} is no report of heapline in JSON" unless data.is_a?(Hash) && data.key?("schema_version")
        raise Error, "#{name} has sums only: write it without --by" unless data["sites"].is_a?(Array)

        process = data.fetch("process")
        Snapshot.new(**identity(process), **TIMES.transform_values { |key| process[key] && Time.parse(process[key]) },
                     sites: data["sites"].map { |row| site(row) }, objects: objects(data["objects"]))
      rescue JSON::ParserError, KeyError, TypeError, ArgumentError, NoMethodError => e
        raise Error, "#{name} is damaged: #{e.message.lines.first.chomp[0, 100]}"
      end

      class << self
        private

        def identity(process)
          { pid: process["pid"], command: process["command"], ruby: process["ruby"], allocator: process["allocator"],
            state: process["state"].to_sym, gc_count: process["gc_count"], baseline_kind: :start }
        end

        def site(row)
          figures = FIGURES.to_h { |name| [name, Integer(row.fetch(name.to_s))] }
          ages = AGES.transform_values { |key| Integer(row.fetch(key)) }
          Site.new(location: location(row), kind: row["kind"].to_sym, tag: row["tag"], **Site::ZERO, **figures, **ages)
        end

        # nil where they were not accounted, or are there as sums only.
        def objects(data)
          Objects.new(data["sites"].map { |row| object_site(row) }) if data.is_a?(Hash) && data["sites"].is_a?(Array)
        end

        def object_site(row)
          figures = OBJECTS.transform_values { |key| Integer(row.fetch(key)) }
          ObjectSite.new(location: location({ "kind" => row["path"] ? "ruby" : "special", **row }), tag: row["tag"],
                         class_name: row["class"], type: row["type"], internal: row["internal"] == true,
                         **ObjectSite::ZERO, **figures)
        end

        def location(row)
          known = { label: row["label"], library: row["library"], symbol: row["symbol"] }
          case row["kind"]
          when "ruby" then Location.new(path: row.fetch("path"), lineno: row["lineno"], **known)
          when "native" then Location.new(offset: row.fetch("location")[/\+0x(\h+)\z/, 1].to_s.hex, **known)
          else Location.new(special: row.fetch("location"))
          end
        end
      end
    end
  end
end
