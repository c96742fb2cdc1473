# frozen_string_literal: true

require "json"
require "tempfile"

module Tasks
  # Tools that find lost blocks, each run on a Ruby program with the corpus of test/leaks. An answer is what was found,
  # { case => [definitely, indirectly, possibly lost blocks] }, and its seconds on the clock and of processor time.
  module LeakTools
    Answer = Struct.new(:found, :wall, :cpu)
    KINDS = %w[definite indirect possible].freeze

    module_function

    # All of them.
    def all
      [Heapline.new, Valgrind.new, Sanitizer.new]
    end

    # Why they cannot be compared here, or nil.
    def unavailable
      missing = all.reject(&:available?)
      "without #{missing.map(&:name).join(" and ")}" if missing.any?
    end

    # Runs a tool's command; the block makes of what it printed [[functions of a stack, kind, blocks] …].
    def answer(*command, env: {})
      before = [Process.clock_gettime(Process::CLOCK_MONOTONIC), Process.times]
      _, output = Shell.capture("timeout", "600", *command, env: PlainRuby::ENVIRONMENT.merge(env))
      wall = Process.clock_gettime(Process::CLOCK_MONOTONIC) - before.first
      Answer.new(by_case(yield(output)), wall, cpu(Process.times) - cpu(before.last))
    end

    def cpu(times)
      times.cutime + times.cstime
    end

    def by_case(losses)
      losses.each_with_object(Hash.new { |found, name| found[name] = [0, 0, 0] }) do |(functions, kind, blocks), found|
        found[LeakCorpus.case_of(functions)][KINDS.index(kind)] += blocks
      end
    end

    # `heapline leaks`.
    class Heapline
      def name
        "heapline"
      end

      def available?
        true
      end

      def run(program)
        LeakTools.answer(RbConfig.ruby, "exe/heapline", "leaks", "--library", "leak_corpus", "--format", "json",
                         RbConfig.ruby, program) do |output|
          JSON.parse(output[/^\{.*/m])["records"].map do |record|
            [record["frames"].map { |frame| frame["function"].to_s }, record["kind"], record["blocks"]]
          end
        end
      end
    end

    # memcheck, as ruby_memcheck runs it: values that were never set are not looked for.
    class Valgrind
      XML_KINDS = { "Leak_DefinitelyLost" => "definite", "Leak_IndirectlyLost" => "indirect",
                    "Leak_PossiblyLost" => "possible" }.freeze

      def name
        "Valgrind"
      end

      def available?
        Shell.which("valgrind")
      end

      def run(program)
        Tempfile.create("heapline-valgrind") do |file|
          LeakTools.answer("valgrind", "--num-callers=40", "--leak-check=full", "--undef-value-errors=no", "--xml=yes",
                           "--show-leak-kinds=definite,indirect,possible", "--xml-file=#{file.path}", RbConfig.ruby,
                           program) { file.read.scan(%r{<error>.*?</error>}m).filter_map { |error| loss(error) } }
        end
      end

      private

      def loss(error)
        kind = XML_KINDS[error[%r{<kind>(.*?)</kind>}, 1]]
        blocks = error[%r{<leakedblocks>(\d+)</leakedblocks>}, 1].to_i
        kind && [error.scan(%r{<fn>(.*?)</fn>}).flatten, kind, blocks]
      end
    end

    # LeakSanitizer, preloaded. It knows no possible losses: a pointer into a block keeps it.
    class Sanitizer
      LOSS = /^(Direct|Indirect) leak of \d+ byte\(s\) in (\d+) object\(s\) allocated from:\n(.*?)\n\n/m

      def name
        "LeakSanitizer"
      end

      def available?
        library
      end

      def run(program)
        LeakTools.answer(RbConfig.ruby, program, env: { "LD_PRELOAD" => library }) do |output|
          output.scan(LOSS).map do |kind, blocks, stack|
            [stack.scan(/^ +#\d+ 0x\h+ in (\S+)/).flatten, kind == "Direct" ? "definite" : "indirect", blocks.to_i]
          end
        end
      end

      private

      def library
        Dir["/usr/lib/*-linux-gnu/liblsan.so.0"].first
      end
    end
  end
end
