# frozen_string_literal: true

require_relative "../../clock"
require_relative "../../model/flight"
require_relative "../command"
require_relative "../running_process"

module Heapline
  module CLI
    class Leaks < Command
      # A running process that keeps blocks: asked through its flight file, it searches a copy of itself and leaves the
      # report beside that file.
      class Running
        include Clock

        TIMEOUT = 60.0
        STEP = 0.02
        AGAIN = 0.5

        # [[text, name]].
        attr_reader :texts

        def initialize(words, env, err, since: false, reachable: false, timeout: TIMEOUT)
          @entry = RunningProcess.find(words, env, dead: "its blocks are gone")
          @asked = [since ? true : false, reachable ? true : false]
          @err = err
          @timeout = timeout
          check(Model::Flight.header(@entry.path))
          @texts = [[answer, path]]
        end

        def status
          OK
        end

        private

        def check(header)
          return if header[:options].split(",").include?("blocks")

          raise Error, "process #{@entry.pid} keeps no blocks: start it with HEAPLINE=blocks, or with " \
                       "`heapline --blocks …`"
        end

        def path
          File.join(File.dirname(@entry.path), "#{@entry.pid}.leaks")
        end

        # A request that comes at a bad moment is dropped by the process, so it is made again until the search has
        # begun.
        def answer
          remove
          limit = now + @timeout
          until File.exist?(path)
            raise Error, problem if now >= limit || !@entry.alive?

            ask
            sleep STEP
          end
          File.binread(path)
        ensure
          remove
        end

        def ask
          return if File.exist?("#{path}.part") || now < @again.to_f

          Native.request_leaks(@entry.path, *@asked)
          say_waiting if @again
          @again = now + AGAIN
        end

        def say_waiting
          @err.puts "heapline: asked process #{@entry.pid}; it answers at its next allocation" unless @said
          @said = true
        end

        def remove
          File.unlink(path)
        rescue Errno::ENOENT
          nil
        end

        def problem
          return "process #{@entry.pid} ended before it answered" unless @entry.alive?

          "process #{@entry.pid} has not answered for #{@timeout} s: it answers after its next allocation (idle, or " \
            "stopped?)"
        end
      end
    end
  end
end
