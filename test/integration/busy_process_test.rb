# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "heapline/cli"
require "heapline/accounting/flight"
require "heapline/accounting/flight_directory"
require "heapline/top/observer"
require "heapline/top/watch"
require "support/accounted"
require "support/native_programs"

module Heapline
  # A process that allocates gigabytes a second, in threads of Ruby and of C, while as much stays live: what each reader
  # says of it.
  class BusyProcessTest < Minitest::Test
    include Accounted

    # Of what is live.
    EXACT = 0.01

    # 5,000 lines, each of which was run by several threads: a flight file that takes a while to read.
    #
    # From Ruby 3.3 on a thread's stack of the VM is a block of 1 MB that lives as long as the Thread: all threads have
    # begun before it is ready, and those that ended are kept.
    WORKER = <<~'RUBY'
      require %s
      File.write(%s, "def many(kept)\n#{"  kept << String.new(capacity: 100)\n" * 5000}end\n")
      load %s
      KEPT = Array.new(4) { Thread.new { [].tap { |kept| many(kept) } }.join }
      rings = Array.new(3) { Array.new(4000) { String.new(capacity: 2000) } }
      GC.start
      Churn.start(2, 40_000, 512)
      begun = Queue.new
      work = lambda do |ring|
        turn = -> { ring.each_index { |i| ring[i].clear && ring[i] = String.new(capacity: 2000) } }
        turn.call
        begun << ring
        loop(&turn)
      end
      threads = rings.map { |ring| Thread.new(ring, &work) }
      rings.each { begun.pop }
      puts "ready"
      $stdout.flush
      threads.each(&:join)
    RUBY

    def setup
      super
      many = path("many.rb").inspect
      library = NativePrograms.extension("churn").inspect
      @pid, = start(program(format(WORKER, library, many, many)))
      @flight = flight_files.fetch(0)
      @live = standing_still { reading.live_bytes }
    end

    def reading
      Accounting::Flight.read(@flight)
    end

    def standing_still
      halt(@pid)
      yield
    ensure
      Process.kill(:CONT, @pid)
    end

    # What the readings say that was live (Array): each as exact as it says itself, most as exact as they are to be.
    def assert_exact(readings)
      errors = readings.map { |live, moved| [live - @live, moved] }
      near = @live * EXACT
      assert errors.all? { |error, moved| error.abs <= (moved || 0) + near }, "live #{@live}, errors: #{errors}"
      assert_operator errors.count { |error, _| error.abs <= near }, :>, errors.size / 2, "errors: #{errors}"
    end

    # Array of what the block makes of the command's output, of `count` runs of it.
    def said(*command, count: 3)
      Array.new(count) do
        out = StringIO.new
        err = StringIO.new
        env = environment.transform_keys(&:to_s).merge("PATH" => ENV.fetch("PATH"))
        assert_equal 0, CLI.start(command, env: env, out: out, err: err), err.string
        yield out.string
      end
    end

    def test_readings_in_a_row
      readings = Array.new(10) { reading }
      assert_exact(readings.map { |snapshot| [snapshot.live_bytes, snapshot.moved_bytes] })
      assert_empty(readings.map(&:failures).reject(&:empty?))
      readings.each { |snapshot| assert(snapshot.none? { |site| site.frees > site.allocations }) }
    end

    def test_the_sites_live_is_the_lanes
      raw = Array.new(5) { Native.choose_sites(@flight, true) { [] } }
      raw.each do |figures|
        sites = figures[:live_ruby_bytes] + figures[:live_jit_bytes] + figures[:live_native_bytes]
        assert_in_delta figures[:lanes_live_bytes], sites, figures[:moved_bytes] + (@live * EXACT)
      end
    end

    def test_snapshot
      assert_exact(said("snapshot", @pid.to_s, "-o", path("now.heapline")) do
        copy = Accounting::Flight.read(path("now.heapline"))
        [copy.live_bytes, copy.moved_bytes]
      end)
    end

    def test_report
      assert_exact(said("report", "--json", @pid.to_s) do |out|
        report = JSON.parse(out)
        [report["totals"]["live_bytes"], report["memory"]["moved_bytes"]]
      end)
    end

    def test_metrics
      assert_exact(said("report", "--format", "prometheus", @pid.to_s) do |out|
        [out[/^heapline_live_bytes\S* (\d+)/, 1].to_i, nil]
      end)
    end

    # What is live and not resident, as most of the VM's stacks and of 3.2's transient heap, stands beside the lines.
    # Of some large blocks it is not known who has them. Where the object heap grew since the process told its size, its
    # new pages may as well be untouched large blocks: then as much memory is of unknown use.
    def test_rss
      assert_exact(said("rss", "--json", *PATIENTLY, @pid.to_s) do |out|
        ledger = JSON.parse(out)
        lines = ledger["lines"].to_h { |line| [line["key"], line["bytes"]] }
        parts = ledger["lines"].flat_map { |line| line["parts"] }.to_h { |part| [part["key"], part["bytes"]] }
        assert_operator lines["malloc_held"], :>=, 0
        known = [*lines.values_at("malloc_ruby", "malloc_native"), parts["large blocks of malloc"].to_i]
        [known.sum + ledger["untouched_bytes"], parts["anonymous memory"].to_i]
      end)
    end

    def test_growth_log
      log = path("log.jsonl")
      writer = Process.spawn(environment, *heapline_command("log", @pid.to_s, "--every", "0.2", "-o", log))
      @processes << writer
      whole = -> { File.exist?(log) ? File.readlines(log).grep(/\n\z/) : [] } # the last one may be on its way
      await("few lines") { whole.call.size >= 6 }
      lines = whole.call.map { |line| JSON.parse(line) }
      assert_exact(lines.map { |line| [line["totals"]["live_bytes"], line["moved_bytes"]] })
      assert_empty(lines.filter_map { |line| line.dig("ledger", "malloc_held") }.select(&:negative?))
    end

    def test_top
      directory = Accounting::FlightDirectory.new({ "HEAPLINE_DIR" => File.dirname(@flight) })
      observer = Top::Observer.new(directory, directory.fetch(@pid))
      watch = Top::Watch.new
      lives = Array.new(6) { watch.add(observer.read).now.total }
      assert_exact(lives.map { |total| [total.live_bytes, total.moved_bytes] })
      assert_includes said("top", "--once", "--every", "0.5", @pid.to_s, count: 1, &:itself).first, "churn.so"
    ensure
      observer&.close
    end
  end
end
