# frozen_string_literal: true

require "test_helper"
require "heapline/processes/ledger"
require "support/flight_run"
require "support/recorded"

# What YJIT and ZJIT allocate for themselves is the VM's, not that of the lines which run while they compile.
class JitMemoryTest < Minitest::Test
  include FlightRun
  include Recorded

  JITS = %w[yjit zjit].select do |jit|
    system(RbConfig.ruby, "--#{jit}", "-e", "exit RubyVM::#{jit.upcase}.enabled?", out: File::NULL, err: File::NULL)
  end
  OPTIONS = { "yjit" => %w[--yjit --yjit-call-threshold=2], "zjit" => %w[--zjit --zjit-call-threshold=2] }.freeze

  # Much is compiled, also while a tag is set, and each line allocates the same at each run.
  PROGRAM = <<~RUBY
    def text(number) = "t" * (2000 + number)
    def size(number) = text(number).size
    class Point
      attr_accessor :at
      def initialize(at) = @at = at
      def moved = Point.new(at + 1)
    end
    def work
      i = 0
      while i < 500
        size(i)
        Point.new(i).moved.at
        { a: i, b: [i] }.each { |key, value| key.to_s + value.to_s }
        i += 1
      end
    end
    4.times { work }
    60.times { |n| eval("def made_\#{n}(x) = (x + \#{n}).to_s * 900\\n", nil, "made.rb"); 50.times { |i| send(:"made_\#{n}", i) } }
  RUBY

  def setup
    super
    skip "this Ruby has no JIT that is written in Rust" if JITS.empty? || RUBY_VERSION < "3.2"
  end

  # But for what the GC takes at whatever line it runs.
  def test_lines_have_what_they_have_without
    without = bytes_of_lines([])
    JITS.each do |jit|
      bytes = bytes_of_lines(OPTIONS.fetch(jit))
      assert_equal without.keys, bytes.keys & without.keys
      without.each { |place, sum| assert_in_delta sum, bytes[place], (sum / 50) + 70_000, "#{jit} #{place}" }
      assert_in_delta without.values.sum, bytes.values.sum, without.values.sum / 20, jit
    end
  end

  def test_it_has_a_place_of_its_own
    JITS.each do |jit|
      [nil, "keep,api"].each do |heapline|
        site = compiler(fly(PROGRAM, options: OPTIONS.fetch(jit), heapline: heapline || "keep").snapshot, jit)
        assert_operator site.bytes_allocated, :>, 200_000
        assert_operator site.live_bytes, :>, 10_000
        assert_equal [:special, nil, "ruby core"], [site.kind, site.tag, site.location.gem]
      end
    end
  end

  def test_in_no_tag
    load = "$LOAD_PATH.unshift #{Heapline::TestHelper::LIB.inspect}; require 'heapline'"
    program = PROGRAM.sub(/class Point.*?^end\n/m, "Point = Struct.new(:at) { def moved = dup }\n")
    text = "#{load}\nHeapline.tag('all') {\n#{program}}"
    JITS.each do |jit|
      sites = fly(text, options: OPTIONS.fetch(jit)).snapshot.select { |site| site.location.jit? }
      assert_equal [nil], sites.map(&:tag).uniq
    end
  end

  def test_the_ledger_has_it_beside_the_code
    look = <<~'RUBY'
      require "heapline/accounting/flight"
      require "heapline/processes/ledger"
      snapshot = Heapline::Accounting::Flight.read(Dir[File.join(ENV.fetch("HEAPLINE_DIR"), "*.flight")].first)
      puts Heapline::Processes::Ledger.read(snapshot, drill: true)[:jit].parts.map { |part| "#{part.name}: #{part.bytes}" }
    RUBY
    JITS.each do |jit|
      run = fly(PROGRAM + look, options: ["-I", Heapline::TestHelper::LIB, *OPTIONS.fetch(jit)])
      assert_operator run.output[/^malloc \(#{jit.upcase}\): (\d+)/, 1].to_i, :>, 10_000, run.error
    end
  end

  def test_recorded_stacks
    skip "lines of this Ruby have no stacks" unless fly("").snapshot.attribution == :frames
    JITS.each do |jit|
      stacks = record(PROGRAM, ruby: OPTIONS.fetch(jit)).births.map(&:stack).uniq
      compiling = stacks.select { |stack| stack.last.to_s.include?("(#{jit.upcase})") }
      assert_operator compiling.size, :>, 5
      assert(compiling.any? { |stack| stack.size > 1 })
    end
  end

  private

  def bytes_of_lines(options)
    run = fly(PROGRAM, options: options)
    assert run.status.success?, run.error
    sites = run.snapshot.select { |site| site.location.path.to_s.match?(/(program|made)\.rb\z/) }
    sites.group_by { |site| site.location.to_s }.transform_values { |same| same.sum(&:bytes_allocated) }
  end

  def compiler(snapshot, jit)
    snapshot.find { |site| site.location.special == "(#{jit.upcase})" } or
      flunk "none of #{snapshot.select { |site| site.kind == :special }.map { |site| site.location.to_s }}"
  end
end
