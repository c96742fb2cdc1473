# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/taken"

# Attribution where caches overflow, code is freed, moved and compiled: each place takes blocks of a size of its own, so
# that a wrong one shows.
class AttributionAtScaleTest < Minitest::Test
  include FlightRun
  include Taken

  LINES = 10_000
  EVALUATIONS = FlightRun.torture(20_000, 100_000, 300_000)
  COMPACTIONS = 1000

  def test_ten_thousand_lines
    assert_operator share_right(lines_run), :>=, 0.999
  end

  def test_ten_thousand_lines_compiled_by_yjit
    skip "this Ruby has no YJIT" unless yjit?

    assert_operator share_right(lines_run(options: ["--yjit", "--yjit-call-threshold=2"])), :>=, 0.99
  end

  def test_ten_thousand_lines_of_strings
    text = Array.new(LINES) { |i| "def m#{i} = ($kept << \"s\" * #{1000 + i})\n" }.join
    text += "$kept = []\n#{LINES}.times { |i| send(:\"m\#{i}\") }\n"
    figures = by_line(fly(text).snapshot) { |site| site.location.library.nil? }
    right = (1..LINES).count { |line| figures.fetch(line, 0) >= 1000 + line }
    assert_operator right.fdiv(LINES), :>=, 0.999
  end

  # Compiled code comes and goes at the same addresses: no line may be taken for the one that was there before.
  def test_evaluated_and_freed_code
    run = fly(<<~RUBY)
      require #{taker.inspect}
      #{EVALUATIONS}.times do |i|
        file, line = i % 97, 1 + i % 89
        size = 10_000 + 100 * file + line
        eval("Taker.take(\#{size}); Taker.unlocked(\#{size})", nil, "file\#{file}", line)
      end
    RUBY
    assert_all_right(run, EVALUATIONS * 2) do |at|
      at.path[/\Afile(\d+)\z/, 1]&.then do |n|
        10_000 + (100 * n.to_i) + at.lineno
      end
    end
  end

  def test_evaluated_methods_that_replace_each_other
    run = fly(<<~RUBY)
      require #{taker.inspect}
      20_000.times do |i|
        file, line = i % 97, 1 + i % 89
        eval("def self.taken\\nTaker.take(\#{10_000 + 100 * file + line})\\nend", nil, "file\#{file}", line - 1)
        taken
        GC.start(full_mark: true) if i % 500 == 0
      end
    RUBY
    assert_all_right(run, 20_000) { |at| at.path[/\Afile(\d+)\z/, 1]&.then { |n| 10_000 + (100 * n.to_i) + at.lineno } }
  end

  def test_compaction
    run = fly(<<~RUBY)
      require #{taker.inspect}
      exit 3 unless GC.respond_to?(:compact)
      #{Array.new(100) { |i| "def m#{i} = Taker.take(#{10_000 + i})\n" }.join}
      #{COMPACTIONS}.times do |i|
        junk = Array.new(50) { |n| "junk" * n }
        eval("Taker.take(20_000)", nil, "evaluated.rb", 10_000)
        GC.compact
        10.times { |n| send(:"m\#{(i * 10 + n) % 100}") }
      end
    RUBY
    skip "this Ruby cannot compact" if run.status.exitstatus == 3

    assert_all_right(run, COMPACTIONS * 11) { |at| at.path == "evaluated.rb" ? 20_000 : 10_000 + at.lineno - 3 }
  end

  # Compaction by another thread while this one is without the GVL.
  def test_compaction_beside_threads_without_the_gvl
    run = fly(<<~RUBY)
      require #{taker.inspect}
      stop = false
      threads = 3.times.map { Thread.new { n = 0; (Taker.unlocked(10_004); n += 1) until stop; n } }
      200.times { GC.compact; eval("Taker.unlocked(20_000)", nil, "evaluated.rb", 1); Thread.pass }
      stop = true
      puts threads.sum(&:value)
    RUBY
    assert_all_right(run, 200 + run.output.to_i) { |at| at.path == "evaluated.rb" ? 20_000 : 10_001 + at.lineno }
  end

  private

  def lines_run(options: [])
    text = "require #{taker.inspect}\n" + Array.new(LINES) { |i| "def m#{i} = Taker.take(#{10_000 + i})\n" }.join
    fly("#{text}3.times { #{LINES}.times { |i| send(:\"m\#{i}\") } }\n", options: options)
  end

  # Share of the lines that hold exactly what was asked for there.
  def share_right(run)
    assert run.status.success?, run.error
    figures = by_line(run.snapshot) { |site| site.location.library == "taker.so" }
    (0...LINES).count { |i| figures[i + 2] == 3 * (10_000 + i) }.fdiv(LINES)
  end

  def by_line(snapshot, &)
    sites = snapshot.select(&).select { |site| site.location.path&.end_with?("program.rb") }
    sites.group_by { |site| site.location.lineno }.transform_values { |same| same.sum(&:bytes_allocated) }
  end

  # Each block that the extension took lies at a line where the block gives its size for that line, and none is missing.
  def assert_all_right(run, number)
    assert run.status.success?, run.error
    sites = run.snapshot.select { |site| site.location.library == "taker.so" }
    wrong = sites.reject do |site|
      site.location.path && site.bytes_allocated == site.allocations * (yield(site.location) || 0)
    end
    assert_empty(wrong.map { |site| "#{site.location}: #{site.allocations} blocks, #{site.bytes_allocated} bytes" })
    assert_equal number, sites.sum(&:allocations)
  end

  def yjit?
    plain(ruby("--yjit", "-e", "exit RubyVM::YJIT.enabled?")).status.success?
  end
end
