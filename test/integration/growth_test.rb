# frozen_string_literal: true

require "test_helper"
require "heapline/growth/log/followed"
require "heapline/growth_reader"
require "heapline/accounting/flight"
require "support/accounted"
require "support/flight_run"
require "support/growth_logs"

module Heapline
  # The verdicts on real processes with planted faults. The process goes one step for each word that it gets, and then
  # its flight file is read: nothing depends on time, a line's time is made up.
  class GrowthTest < Minitest::Test
    include Accounted
    include GrowthLogs

    STEPS = 30
    # Each planted line ends with its name.
    PLANTED = <<~'RUBY'
      require "fiddle"
      KEPT = []
      CACHE = {}
      VIEWS = Module.new
      IMPORT = []
      HOLES = []
      RANDOM = Random.new(1)

      def step(number)
        Fiddle.malloc(30_000) # native
        KEPT << ("x" * 30_000) # retained
        CACHE[number] = "c" * 100_000 # cache
        CACHE.shift if CACHE.size > 14
        template = (1..30).map { |i| "x#{i} = [#{i}, @a.to_s, 'template']" }.join("\n")
        VIEWS.module_eval("def _app_views_#{number}; #{template}; end") # compiled
        20.times { IMPORT << ("i" * 100_000) } if number == 12 # import
        60.times { "t" * 100_000 } # churn
        $load = Array.new(RANDOM.rand(1..20)) { "l" * 50_000 } # load
        leave_holes
        GC.start
      end

      # Blocks of which few stay: memory that cannot be given back, and little that is live.
      def leave_holes
        blocks = Array.new(400) { Fiddle.malloc(10_000) } # holes
        blocks.each_with_index { |block, i| Fiddle.free(block) unless (i % 40).zero? && HOLES.size < 150 && HOLES << block }
      end

      $stdout.sync = true
      puts "ready"
      while (number = gets)
        step(number.to_i)
        puts "done"
      end
    RUBY
    EXPECTED = { "native" => :leak, "retained" => :leak, "compiled" => :leak, "cache" => :cache, "import" => :bloat,
                 "churn" => :churn, "load" => :steady, "holes" => :cache }.freeze

    def test_planted_faults
      file = program(PLANTED)
      names = planted_lines(file)
      found = growth_of(log_text(*observed(file))).series.group_by(&:location)
      verdicts = EXPECTED.keys.to_h { |name| [name, found.fetch("#{file}:#{names.fetch(name)}").first.verdict] }
      assert_equal EXPECTED, verdicts
      own = found.select { |location, _| location.start_with?("#{file}:") }
      leaks = own.select { |_, series| series.any? { |one| one.verdict == :leak } }.keys
      assert_equal %w[native retained compiled].map { |name| "#{file}:#{names[name]}" }.sort, leaks.sort
    end

    # One line holds more for long and one allocates more: where one is listed by each figure, the leak is none.
    LATE = <<~RUBY
      HELD = "h" * 40_000_000 # more than the VM itself at once: Ruby 3.2 has a block of 32 MiB
      KEPT = []
      $stdout.sync = true
      puts "ready"
      while gets
        KEPT << ("x" * 2_000_000) # leak
        10.times { "t" * 400_000 }
        GC.start
        puts "done"
      end
    RUBY

    # The writer knew it before it listed it: what it held then is in the line that lists it first.
    def test_a_leak_that_is_listed_late
      file = program(LATE)
      followed = nil
      lines = steps(file) do |number|
        followed ||= GrowthLog::Followed.new(File.open(flight_files.first), GrowthLog::Settings.new(every: 60, top: 1))
        GrowthLog::Line.generate(followed.line(number * 60.0)).tap { followed.written(number * 60.0) }
      end
      place = "#{file}:#{planted_lines(file).fetch("leak")}"
      assert_operator lines.index { |line| line.include?(place) }, :>, STEPS / 2
      assert_late_leak(growth_of(lines.join).series.find { |one| one.location == place })
    ensure
      followed&.close
    end

    private

    def assert_late_leak(series)
      assert_equal :leak, series.verdict
      # What the VM itself may take at the line: room for the array, a description of a page, a GC's mark stack.
      assert_in_delta 2_000_000 * (STEPS - 1), series.growth_bytes, 50_000
      assert_in_delta 2_000_000 * 60, series.slope_bytes_per_hour, 200_000
    end

    # Hash of name => number of the line that ends with it.
    def planted_lines(file)
      numbered = File.readlines(file).map.with_index(1) { |line, number| [line[/# (\w+)$/, 1], number] }
      numbered.select(&:first).to_h
    end

    # What the block gives for each step (its number) of a process that runs `file`.
    def steps(file)
      libraries = FlightRun::FIDDLE.flat_map { |folder| ["-I", folder] }
      IO.popen([environment, *heapline_command("--quiet", RbConfig.ruby, *libraries, file)], "r+") do |io|
        assert_equal "ready", line_of(io)
        lines = Array.new(STEPS) do |number|
          io.puts(number)
          assert_equal "done", line_of(io)
          yield number
        end
        io.close_write
        lines
      end
    end

    def line_of(io)
      assert io.wait_readable(PATIENCE), "the program wrote nothing"
      io.gets.to_s.chomp
    end

    # The log lines (Array of Hashes), one a step.
    def observed(file)
      steps(file) { |number| line(number, Accounting::Flight.read(flight_files.first)) }
    end

    # As version 1 of the log was written: each site with its change since the line before.
    def line(number, snapshot)
      log_line(number, snapshot.by_key.map { |key, site| listed(site, site.live_bytes - before(key, site.live_bytes)) },
               schema: "heapline-growth/1", pid: snapshot.pid, generation: snapshot.generation,
               totals: { live_bytes: snapshot.live_bytes, bytes_allocated: snapshot.bytes_allocated })
    end

    def listed(site, delta)
      place = site.location
      share = site.frees.zero? ? nil : site.temporary.fdiv(site.frees)
      log_site(place.to_s, site.live_bytes, label: place.label, library: place.library, kind: site.kind,
                                            delta_bytes: delta, bytes_allocated: site.bytes_allocated,
                                            temporary_share: share)
    end

    # The live bytes of a site at its last line; 0 before the first.
    def before(key, now)
      @live ||= {}
      former = @live.fetch(key, 0)
      @live[key] = now
      former
    end
  end
end
