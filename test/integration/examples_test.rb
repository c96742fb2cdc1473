# frozen_string_literal: true

require "test_helper"
require "rubygems"
require "support/flight_run"

# The examples show what they say, to the byte where they say so.
class ExamplesTest < Minitest::Test
  include FlightRun

  EXAMPLES = File.join(Heapline::TestHelper::ROOT, "examples")
  # What the VM may allocate at one line besides: call caches, and from Ruby 3.3 on lists of the collector, which each
  # collection that begins at the line allocates anew and frees.
  VM_BYTES = 80_000
  VM_BLOCKS = 40

  def test_fiddle
    counted = Array.new(2) { fiddle }
    # But for the length of a temporary directory's name, and from Ruby 3.3 on for how many collections begin there.
    other_bytes, other_blocks = RUBY_VERSION < "3.3" ? [64, 64] : [VM_BYTES, VM_BLOCKS]
    counted.transpose.zip([other_bytes, other_blocks, other_blocks, other_bytes]) do |(one, other), most|
      assert_in_delta one, other, most, "every run counts the same"
    end
    total, allocations, frees, growth = counted.first
    assert_includes 50_000..(50_000 + VM_BLOCKS), frees
    assert_includes 100_000..(100_000 + VM_BLOCKS), allocations
    assert_includes 102_400_000..(102_400_000 + VM_BYTES), total
    assert_includes 51_200_000..(51_200_000 + VM_BYTES), growth
  end

  def test_fiddle_says_what_mwrap_would
    directory = new_directory
    command = ruby(Heapline::TestHelper::EXE, "--quiet", "--mwrap", *ruby(example("fiddle_leak.rb")))
    run = watch(command, directory: directory, env: { "HEAPLINE_DIR" => directory })
    assert_match(/fiddle_leak\.rb:22: 1024\d{5} bytes in 1000\d\d allocations, 500\d\d frees/, run.output, run.error)
  end

  def test_fiddle_without_heapline_says_how_to_run_it
    compat = File.join(Heapline::TestHelper::LIB, "heapline", "compat", "rubylib")
    run = plain(ruby("-I", compat, example("fiddle_leak.rb")))
    refute_predicate run.status, :success?
    assert_match(/run it with `heapline --mwrap ruby/, run.error)
  end

  def test_redcarpet_that_leaks
    site = redcarpet("3.3.2")
    assert_includes 500_000..500_400, site.allocations
    assert_includes 400_000..400_300, site.frees
    assert_includes 31_200_000..31_600_000, site.growth_bytes
  end

  def test_redcarpet_that_does_not
    site = redcarpet("3.5.0")
    assert_operator site.growth_bytes, :<, 400_000
    assert_operator site.growth_blocks, :<, 300
  end

  # Of lines: Ruby 3.2 allocates its transient heap, 32 MiB of native code's, while the program runs.
  def test_the_demo_shows_its_two_leaks_first
    leaks = fly_example("leak.rb", "3000").top(3).select { |site| site.kind == :ruby }.first(2)
    places = leaks.map { |site| [site.location.lineno, site.location.label] }
    assert_equal [[41, "Receipts#render"], [50, "Thumbnail#initialize"]], places
    assert_includes 4_096_000..(4_096_000 + VM_BYTES), leaks.last.growth_bytes
  end

  private

  def example(name)
    File.join(EXAMPLES, name)
  end

  # Total, allocations, frees and growth of the line that allocates.
  def fiddle
    compat = File.join(Heapline::TestHelper::LIB, "heapline", "compat", "rubylib")
    row = fly_example("fiddle_leak.rb", options: ["-I", compat])["#{example("fiddle_leak.rb")}:22"]
    [row.bytes_allocated, row.allocations, row.frees, row.growth_bytes]
  end

  def redcarpet(version)
    begin
      Gem::Specification.find_by_name("redcarpet", version)
    rescue Gem::LoadError
      skip "redcarpet #{version} is not installed: gem install redcarpet -v #{version}"
    end
    snapshot = fly_example("redcarpet_leak.rb", gems: true, env: redcarpet_environment(version))
    snapshot["#{example("redcarpet_leak.rb")}:16"]
  end

  def redcarpet_environment(version)
    { "REDCARPET" => version, "GEM_HOME" => Gem.dir, "GEM_PATH" => Gem.path.join(":") }
  end

  def fly_example(name, *arguments, options: [], gems: false, **others)
    run = flight(ruby(*options, example(name), *arguments, gems: gems), **others)
    assert_predicate run.status, :success?, run.error
    run.snapshot
  end
end
