# frozen_string_literal: true

require "json"
require "tempfile"
require "timeout"
require_relative "../files/input"
require_relative "comparison"

module Heapline
  class Replay
    # The program that performs a plan, heapline/replayer.so: one process for each replay, with an environment of its
    # own in which there is the allocator and what was asked for, and nothing else.
    # @api private
    class Replayer
      PROGRAM = "heapline/replayer.so"
      MISSING = "the replayer is not compiled: #{PROGRAM} is missing; run `rake compile` in the checkout, or install " \
                "the gem again".freeze
      # How the dynamic linker says that it leaves a library out.
      NOT_PRELOADED = /object '.*' from LD_PRELOAD cannot be preloaded \(([^)]*)\)/
      # What is left to the rest of the machine.
      SHARE = 0.95
      # Seconds in which an allocator must have said what it is.
      PATIENCE = 60
      # How allocators say that they do not take a setting.
      COMPLAINT = /invalid|unknown|unrecogni[sz]ed|malformed/i

      # An allocator as it calls itself: "jemalloc 5.3.0", or the file's name where it does not.
      About = Struct.new(:name, :library, keyword_init: true)

      def initialize(program: self.class.program, patience: PATIENCE)
        @program = program
        @patience = patience
      end

      # Path of the program.
      def self.program
        directories = [File.expand_path("../..", __dir__), *$LOAD_PATH]
        found = directories.map { |directory| File.join(directory.to_s, PROGRAM) }.find { |path| File.file?(path) }
        found || raise(Error, MISSING)
      end

      # The About of an Allocator. Raises Error where it cannot be preloaded, does not replace the family as a whole, or
      # complains of the settings.
      def about(allocator, settings = {})
        output, said = run(settings, allocator, ["--about"], allocator.name, patience: @patience)
        answer = parse(output, allocator.name)
        refuse(allocator, "has no malloc of its own") unless library?(allocator, answer["library"])
        refuse(allocator, "has malloc, but not #{answer["missing"]}") unless answer["missing"].empty?
        complaint = said.lines.grep(COMPLAINT).first unless settings.empty?
        raise Error, "#{allocator.name} does not take #{words(settings)}: #{complaint.strip}" if complaint

        name = if answer["allocator"] == "other"
                 allocator.name
               else
                 answer.values_at("allocator",
                                  "version").join(" ").strip
               end
        About.new(name: name, library: allocator.path)
      end

      # Replay the plan at `path` once: a Replay::Run. settings: Hash of environment variables; touching: :none,
      # :written or :all; name: what the plan is called in errors.
      def replay(path, allocator, settings: {}, touching: :written, samples: true, name: path)
        words = [path, "--touch=#{touching}", "--limit=#{limit}", *("--no-samples" unless samples)]
        output, = run(settings, allocator, words, "#{name} on #{allocator.name}")
        run_of(parse(output, allocator.name))
      end

      private

      # What the program writes to its two outputs.
      def run(settings, allocator, words, what, patience: nil)
        environment = settings.merge(allocator.path ? { "LD_PRELOAD" => allocator.path } : {})
        Tempfile.create("heapline-replayer") do |file|
          output = output(environment, words, file, patience)
          error = Input.text(file.path)
          raise Error, "#{what}: it cannot be preloaded: #{error[NOT_PRELOADED, 1]}" if error.match?(NOT_PRELOADED)
          raise Error, "#{what}: #{ending(Process.last_status, error)}" unless Process.last_status.success?

          [output, error]
        end
      rescue Timeout::Error
        raise Error, "#{what}: it said nothing for #{patience} seconds"
      end

      # Whatever happens meanwhile, the process is gone afterwards.
      def output(environment, words, error, patience)
        IO.popen([environment, [@program, "heapline-replayer"], *words,
                  { in: File::NULL, err: error, unsetenv_others: true }]) do |pipe|
          output = Timeout.timeout(patience) { pipe.read }
        ensure
          Process.kill(:KILL, pipe.pid) unless output
        end
      end

      def words(settings)
        settings.map { |name, value| "#{name}=#{value}" }.join(" ")
      end

      def ending(status, error)
        said = error.lines.last.to_s.strip
        return said unless said.empty? || status.signaled?
        return "the replay was killed: there was not enough memory, or somebody did it" if status.termsig == 9

        how = status.signaled? ? "SIG#{Signal.signame(status.termsig)}" : "exit #{status.exitstatus}"
        "the replay ended by #{how}#{": #{said}" unless said.empty?}"
      end

      # library: each character is a byte.
      def library?(allocator, library)
        path = library.codepoints.pack("C*")
        allocator.path.nil? || (File.exist?(path) && File.identical?(allocator.path, path))
      end

      def refuse(allocator, problem)
        raise Error, "#{allocator.path} cannot be measured: it #{problem}"
      end

      # The last line: libraries may write something before it.
      def parse(text, name)
        JSON.parse(text.lines.last || raise(Error, "#{name}: the replay ended before it began: the library does that"))
      rescue JSON::ParserError
        raise Error, "#{name}: the replayer said what cannot be read: #{text[0, 80].inspect}"
      end

      def run_of(data)
        calls = data["calls"].transform_values { |call| { count: call["count"], seconds: call["ns"] / 1e9 } }
        Run.new(
          seconds: calls.values.sum { |call| call[:seconds] }, touch_seconds: data["touch_ns"] / 1e9,
          wall_seconds: data["wall_ns"] / 1e9, cpu_seconds: (data["user_us"] + data["system_us"]) / 1e6,
          calls: calls, interrupted: data["interrupted"], samples: data["samples"],
          **%w[minor_faults major_faults peak_bytes final_bytes trimmed_bytes].to_h { |key| [key.to_sym, data[key]] }
        )
      end

      # Bytes of RSS that a replay may reach.
      def limit
        (File.read("/proc/meminfo")[/^MemAvailable:\s+(\d+)/, 1].to_i * 1024 * SHARE).round
      end
    end
  end
end
