# frozen_string_literal: true

require_relative "../clock"
require_relative "../accounting/own_figures"
require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../attach/session"
require_relative "running_process"
require_relative "visit"

module Heapline
  module Processes
    # Asks a running process for its Figures, or to give memory back, and waits for the answer. It answers at a safe
    # point of Ruby's after its next allocation; one that waits is visited (Visit). In one without Ruby a thread of
    # heapline's own does it, which Attach::Session has it start.
    class FiguresInquiry
      include Clock

      STEP = 0.02 # seconds between two looks
      AGAIN = 0.5 # seconds
      # These tell their figures whenever they are asked; glibc only after a survey.
      TELLING = /\A(jemalloc|tcmalloc|mimalloc)/

      # entry: FlightDirectory::Entry of a living process.
      def initialize(entry, env: ENV)
        @entry = entry
        @env = env
      end

      # The Figures as they were told now; nil where the process did not answer within `timeout` seconds, or ended.
      # survey: with glibc's free blocks; trim: after the allocator gave back what it could. Raises Error where no Ruby
      # runs in it, and it cannot be asked.
      def ask(timeout:, survey: false, trim: false)
        @visit = Visit.new(@entry)
        header = Accounting::Flight.header(@entry.path)
        return ask_without_ruby(header, timeout, survey, trim) if RunningProcess.without_ruby?(header)

        before = request(survey, trim)
        wanted = wanted(before[:allocator], survey, trim)
        await(before, wanted, timeout) do |now_told|
          @visit.look
          request(survey, trim) if now >= @again || !answered?(now_told, before, [:objects_ns])
        end
      rescue FlightError
        @entry.alive? ? raise : nil
      end

      # Why it did not answer, where that is known.
      def why
        @visit.why
      end

      private

      # It is stopped for that, so not for figures that are taken again and again.
      def ask_without_ruby(before, timeout, survey, trim)
        wanted = wanted(before[:allocator], survey, trim) - [:objects_ns]
        asked = { survey: survey, trim: trim }.select { |_, wish| wish }.keys
        return if asked.empty? || wanted.empty? || before[:stopped_ns].positive?

        Attach::Session.new(@entry.pid, env: @env, timeout: timeout).errand(*asked)
        await(before, wanted, timeout)
      end

      # The Figures, once all that is wanted is told; nil: it was not within `timeout` seconds, or it ended. Yields the
      # header again and again.
      def await(before, wanted, timeout)
        limit = now + timeout
        until answered?(header = Accounting::Flight.header(@entry.path), before, wanted)
          return nil if now >= limit || !@entry.alive?

          sleep STEP
          yield header if block_given?
        end
        Accounting::OwnFigures.of(header)
      end

      # A request that came at a bad moment is dropped by the process, so it is made again: at once until the first part
      # of the answer is there, and now and then until the last one is.
      def request(survey, trim)
        @again = now + AGAIN
        Accounting::Flight.request_figures(@entry.path, survey: survey, trim: trim)
      end

      # The times that change with the answer.
      def wanted(allocator, survey, trim)
        telling = allocator.match?(TELLING) || ((survey || trim) && allocator.start_with?("glibc"))
        [:objects_ns, (:allocator_ns if telling), (:trim_ns if trim)].compact
      end

      def answered?(header, before, wanted)
        wanted.all? { |time| header[:figures][time] > before[:figures][time] }
      end
    end
  end
end
