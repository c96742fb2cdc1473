# frozen_string_literal: true

require "etc"
require "fileutils"
require "json"

module Tasks
  # All layers of tests and gates, each in a process of its own with a time limit, side by side, added up to one line.
  # None measures how long something takes.
  class Layers
    MINUTE = 60
    # Seconds that all have together; in the last sixth none begins. So a slow machine says what it did not run, in
    # place of being stopped in the middle with nothing said.
    TIME = 72 * MINUTE

    # task: name of the Rake task, also the layer's name in its tally; limit: seconds; quick: is it one of those that
    # someone who tries the project runs? apart: layers with the same word here share a folder and never run at once.
    Layer = Struct.new(:task, :limit, :quick, :apart, keyword_init: true) do
      def name
        task.delete_suffix("]").tr("[", ":").delete("() ")
      end
    end

    def self.quick(task, minutes)
      Layer.new(task: task, limit: minutes * MINUTE, quick: true)
    end

    def self.layer(task, minutes, apart: nil)
      Layer.new(task: task, limit: minutes * MINUTE, quick: false, apart: apart)
    end

    # The first makes what all others need. Then these are in the order of what they tell: where the time does not do
    # for all, the last are left out. A limit ends what hangs: it is three times what the layer takes on a machine that
    # does nothing else.
    ALL = [
      quick("compile", 15), quick("symbols", 5), quick("docs", 5),
      layer("matrix[4.0 (shared)]", 65), quick("test:integration[odd]", 25), quick("test:integration[even]", 25),
      quick("test:c", 20), quick("test:unit", 20), layer("test:gates", 15), layer("lint", 25),
      quick("test:package", 20), layer("test:sanitize", 35), layer("fuzz", 30), quick("test:browser", 20),
      quick("test:bench", 20), layer("matrix[4.1 (dev)]", 40), layer("matrix[3.4]", 50), layer("soak[300]", 40),
      layer("matrix[3.3]", 40), layer("matrix[4.0 (static)]", 40), layer("matrix[3.2]", 40),
      layer("cruby[subset]", 25, apart: "cruby"), layer("gems", 20, apart: "gems"),
      layer("cruby[record]", 15, apart: "cruby"), layer("cruby[attach]", 20, apart: "cruby"),
      layer("leaks:compare[quick]", 15), layer("leaks:gems[quick]", 20, apart: "gems"),
      layer("rails", 20, apart: "gems")
    ].freeze

    QUICK = ALL.select(&:quick).freeze

    # times: path of a file that says how long each layer took last time, in seconds; lanes: how many run side by side;
    # time: seconds that all may take.
    def initialize(layers, rake: [RbConfig.ruby, "-S", "rake"], times: File.join(CACHE, "layers.json"),
                   lanes: Etc.nprocessors.clamp(1, 4), time: TIME)
      @layers = layers
      @rake = rake
      @times = times
      @lanes = lanes
      @time = time
      @took = File.exist?(times) ? JSON.parse(File.read(times)) : {}
      @turn = Mutex.new
      @ended = ConditionVariable.new
    end

    # Runs all of them, whatever fails. Prints what each printed when it has ended, what failed once more with the
    # command that repeats it, a table, the names of what there was no time for and of what failed and, as the last
    # line, "N passed, N failed". Returns whether something passed and nothing failed.
    def run
      @end = now + @time
      @waiting = @layers.dup
      @running = []
      @tallies = {}
      @outputs_of_failed = {}
      run_one(take) unless @waiting.empty?
      Array.new(@lanes) { Thread.new { run_lane } }.each(&:join)
      total(*@layers.partition { |layer| @tallies.key?(layer) })
    end

    private

    def total(ran, left_out)
      tallies = @tallies.values_at(*ran)
      @outputs_of_failed.each do |layer, output|
        puts "", "-- failed: #{layer.name}; again: bundle exec rake '#{layer.task}'", *Complaints.of(output)
      end
      passed = tallies.sum(&:passed)
      failed = tallies.sum(&:failed)
      puts("", tallies.zip(ran).map { |tally, layer| row(tally, layer) })
      puts "not run, for lack of time: #{left_out.map(&:task).join(", ")}" if left_out.any?
      @outputs_of_failed.each { |layer, output| puts "failed: #{layer.name}: #{Complaints.names(output)}" }
      puts "#{passed} passed, #{failed} failed"
      failed.zero? && passed.positive?
    end

    def row(tally, layer)
      format("%-18s %5d passed %5d failed %6d s", tally.layer, tally.passed, tally.failed, @took[layer.name])
    end

    def run_lane
      Thread.current.abort_on_exception = true
      while (layer = take)
        run_one(layer)
      end
    end

    # The next layer that may run beside those that do; nil where none is left, or no time.
    def take
      @turn.synchronize do
        until @waiting.empty? || now > @end - (@time / 6.0)
          layer = @waiting.find { |one| one.apart.nil? || @running.none? { |other| other.apart == one.apart } }
          return start(layer) if layer

          @ended.wait(@turn)
        end
      end
    end

    def start(layer)
      @waiting.delete(layer)
      @running << layer
      say("== #{layer.task} begins (#{@took[layer.name] || "?"} s last time)")
      layer
    end

    def run_one(layer)
      begun = now
      limit = [layer.limit, @end - begun].min
      ok, output = Shell.capture("timeout", "--kill-after=20", limit.to_s, *@rake, layer.task)
      stopped = !ok && limit < layer.limit && now >= @end # for lack of time: what told its tally before counts
      tally = Tally.read(layer.name, output)
      tally ||= Tally.new(layer: layer.name, passed: ok ? 1 : 0, failed: 0) unless stopped
      tally.failed = 1 if tally && !ok && tally.failed.zero?
      @turn.synchronize { finish(layer, tally, output, (now - begun).round) }
    end

    def finish(layer, tally, output, seconds)
      @running.delete(layer)
      @ended.broadcast
      say(output) unless output.empty?
      return say("== #{layer.task}: stopped after #{seconds} s, for lack of time") unless tally

      @tallies[layer] = tally
      @outputs_of_failed[layer] = output if tally.failed.positive?
      note(layer, seconds)
      say("== #{layer.task}: #{tally.passed} passed, #{tally.failed} failed in #{seconds} s; " \
          "to the end about #{left} s")
    end

    # Seconds that the lanes still need, by what each layer took last time.
    def left
      [*@waiting, *@running].sum { |layer| @took[layer.name] || 0 } / @lanes
    end

    def say(text)
      puts text
      $stdout.flush
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def note(layer, seconds)
      @took[layer.name] = seconds
      FileUtils.mkdir_p(File.dirname(@times))
      File.write(@times, JSON.generate(@took))
    rescue SystemCallError
      nil # the next run knows less
    end
  end
end
