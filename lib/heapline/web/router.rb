# frozen_string_literal: true

require_relative "answers"
require_relative "response"

module Heapline
  module Web
    # From the path of a request to its answer. `[/PID][/tree]/ACTION`: a process, or with /tree all that were forked
    # from it too, and what of it is asked for; docs/endpoints.md lists the actions. They only read.
    class Router
      SCOPE = %r{\A(?:/(?<pid>\d{1,10}))?(?<tree>/tree)?(?=/|\z)}
      ACTIONS = {
        index: %r{\A/?\z}, processes: %r{\A/processes(?:\.(?<format>\w+))?\z},
        each: %r{\A/(?:each(?:\.(?<format>\w+))?|(?<format>json))\z}, at: %r{\A/at/(?<location>.+)\z}m,
        metrics: %r{\A/metrics\z}, heap: %r{\A/debug/pprof/heap\z}, allocs: %r{\A/debug/pprof/allocs\z},
        delta_heap: %r{\A/debug/pprof/delta_heap\z}
      }.freeze
      # So many answers may wait for their time to pass.
      WAITING = 4

      # processes: Processes
      def initialize(processes)
        @processes = processes
        @lock = Thread::Mutex.new
        @waiting = Hash.new(0)
      end

      # Request → Response or Later. Raises UsageError, FlightError, Missing.
      def call(request)
        scope = SCOPE.match("#{"/#{request.params["pid"].b}" if request.params.key?("pid")}#{request.path}")
        action, found = action(scope&.post_match)
        raise Missing, "there is nothing at #{Inert.text(request.path)}" unless action

        answers = Answers.new(@processes, request, pid: scope[:pid]&.to_i, tree: !scope[:tree].nil?)
        answer = answers.public_send(action, **found)
        answer.is_a?(Later) ? admit(answer) : answer
      end

      private

      # [name of the action, what its path says], or nil.
      def action(path)
        ACTIONS.each do |name, pattern|
          found = pattern.match(path) if path
          return [name, found.named_captures.compact.transform_keys(&:to_sym)] if found
        end
        nil
      end

      # A Later that gives its place back; refused where all places are taken. By pid, since the waiting of a process
      # does not go on in one that is forked from it.
      def admit(later)
        pid = Process.pid
        free = @lock.synchronize { @waiting[pid] < WAITING && (@waiting[pid] += 1) }
        raise Busy, "#{WAITING} answers are waiting already: ask again later" unless free

        later.leaving { @lock.synchronize { @waiting[pid] -= 1 } }
      end
    end
  end
end
