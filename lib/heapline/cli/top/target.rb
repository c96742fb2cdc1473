# frozen_string_literal: true

require_relative "../../format/process_list"
require_relative "../../model"

module Heapline
  module CLI
    class Top
      # Which process is meant: by its pid, or by a part of its command.
      module Target
        # The FlightDirectory::Entry of a living process. Where several could be meant, they are listed on `err`.
        def self.find(directory, wanted, err, env)
          return by_pid(directory, wanted.to_i) if wanted.match?(/\A\d{1,10}\z/)

          found = roots(directory.entries.select(&:alive?).filter_map { |entry| named(entry, wanted) })
          raise FlightError, none(directory, wanted) if found.empty?
          return found.first.entry if found.size == 1

          list(directory, found, err, env)
          raise UsageError, "#{found.size} processes have #{wanted.inspect} in their command: give one PID"
        end

        # A process by its place in the tree.
        Match = Struct.new(:pid, :forked_from, :entry)
        private_constant :Match

        class << self
          private

          def by_pid(directory, pid)
            entry = directory.fetch(pid)
            return entry if entry.alive?

            raise FlightError, "process #{pid} is dead; its counts are kept: heapline report #{pid}"
          end

          def named(entry, wanted)
            header = Model::Flight.header(entry.path)
            return nil unless header[:command].join(" ").b.downcase.include?(wanted.b.downcase)

            Match.new(entry.pid, header[:forked_from], entry)
          rescue FlightError
            nil
          end

          # Workers stand behind the process that they were forked from.
          def roots(matches)
            matches - matches.flat_map { |match| Model::ProcessTree.descendants(match, matches) }
          end

          def none(directory, wanted)
            "no running process with #{wanted.inspect} in its command has a flight file in #{directory.path}: " \
              "`heapline ps` lists those that have one"
          end

          def list(directory, found, err, env)
            rows = found.map { |match| Model::KnownProcess.read(match.entry) }
            Format::ProcessList.new(directory: directory.path, env: env).render(rows, err)
          end
        end
      end
    end
  end
end
