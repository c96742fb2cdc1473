# frozen_string_literal: true

module Bench
  # One thing to measure. `arguments` is what follows the Ruby executable. Groups:
  # - :native  C code that reports its own nanoseconds a malloc/free pair
  # - :ruby    Ruby programs, compared by the ratio of their times; these make the geometric mean
  # - :known   the same, of programs that people know: under heapline alone, as their number is large
  # - :live    C code that keeps blocks, compared by resident bytes a block
  # - :objects Ruby programs under the tools that trace Ruby objects, compared likewise
  # - :start   processes that do nothing, compared by the difference of their times
  #
  # `through` is how a tool gets in: :preload (LD_PRELOAD alone: what a running program pays) or :command (as the user
  # types it, which includes the start of the tool's own command).
  Workload = Struct.new(:name, :title, :group, :arguments, :through, :repeat, keyword_init: true) do
    def ruby?
      known? || group == :ruby
    end

    def known?
      group == :known
    end

    # Rails takes minutes to install: --quick leaves it out unless it is named.
    def rails?
      name.start_with?("rails_")
    end

    def server?
      arguments.first.end_with?("_server.rb")
    end

    def native?
      group == :native
    end

    def live?
      group == :live
    end

    def start?
      group == :start
    end

    def objects?
      group == :objects
    end
  end

  # The list of them.
  class Workload
    DIRECTORY = File.expand_path("../workloads", __dir__)

    def self.program(name, title, group, *arguments, file: name, repeat: 1)
      new(name: name, title: title, group: group, arguments: [File.join(DIRECTORY, "#{file}.rb"), *arguments].freeze,
          through: :preload, repeat: repeat).freeze
    end
    private_class_method :program

    # A start takes tens of milliseconds and varies by as many per cent: more runs, for the same time.
    def self.start(name, title, through)
      new(name: name, title: title, group: :start, arguments: %w[-e 1].freeze, through: through, repeat: 5).freeze
    end
    private_class_method :start

    ALL = [
      program("pairs_1", "C malloc/free pair, 1 thread", :native, "1", file: "pairs"),
      program("pairs_2", "C malloc/free pair, 2 threads", :native, "2", file: "pairs"),
      program("pairs_4", "C malloc/free pair, 4 threads", :native, "4", file: "pairs"),
      program("pairs_passed", "C malloc, freed by another thread", :native),
      program("live_blocks", "2 million live blocks of 64 bytes, from C", :live),
      program("short_strings", "short strings", :ruby),
      program("deep_stacks", "strings 200 frames deep", :ruby),
      program("fibers", "1,000 fibers that take turns", :ruby),
      program("documents", "JSON, ERB, Kramdown, Liquid, Rouge", :ruby),
      program("redcarpet", "redcarpet, small documents", :ruby),
      program("load_library", "loading RuboCop", :ruby),
      program("few_allocations", "prime sieve, few allocations", :ruby),
      program("web_server", "Puma serving a Rack application", :ruby),
      program("addressable", "Addressable, URIs and templates", :known),
      program("chunky_png", "ChunkyPNG, an image written and read", :known),
      program("hexapdf", "HexaPDF, a document written and read", :known),
      program("lee", "Lee's wires on a board", :known),
      program("liquid_render", "Liquid, a shop's page", :known),
      program("mail", "Mail, messages written and read", :known),
      program("rubocop", "RuboCop, all its cops", :known),
      program("rails_boot", "Rails, its start", :known, repeat: 3),
      *[1, 5, 32, 200].map do |threads|
        program("rails_#{threads}", "Rails served by Puma, threads: #{threads}", :known, threads.to_s,
                file: "rails_server")
      end,
      program("object_loop", "`Object.new` in a loop", :objects),
      program("object_mix", "JSON, ERB, Kramdown, Liquid, Rouge", :objects, file: "documents"),
      start("start", "`ruby -e 1`, preloaded", :preload),
      start("start_command", "`ruby -e 1` through the tool's command", :command)
    ].freeze

    # The workloads with these names, all where there are none. Raises ArgumentError for a name that does not exist.
    def self.named(names)
      unknown = names - ALL.map(&:name)
      return ALL.select { |workload| names.empty? || names.include?(workload.name) } if unknown.empty?

      raise ArgumentError, "no workload #{unknown.join(", ")}; there are #{ALL.map(&:name).join(", ")}"
    end
  end
end
