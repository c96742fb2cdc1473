# frozen_string_literal: true

require "test_helper"
require "heapline/capture"
require "support/flight_run"
require "support/recorded"

# A library is unloaded, and another comes to lie at the same place: nothing that was learned of the first is said of
# the second.
class UnloadingTest < Minitest::Test
  include FlightRun
  include Recorded

  ROUNDS = 6

  # Loads copies of one library, one after the other at one place; each takes blocks of sizes of its own.
  def program_text
    <<~RUBY
      require "fiddle"
      def take(file, size)
        library = Fiddle.dlopen(file)
        take, in_thread = %w[grabber_take grabber_take_in_thread].map do |name|
          Fiddle::Function.new(library[name], [Fiddle::TYPE_LONG], Fiddle::TYPE_VOIDP)
        end
        3.times { take.call(size) }
        3.times { in_thread.call(size + 1) }
        puts library["grabber_take"].to_i
        library.close
      end
      #{libraries.map.with_index { |file, i| "take(#{file.dump}, #{size(i)})" }.join("\n")}
    RUBY
  end

  def libraries
    @libraries ||= Array.new(ROUNDS) do |i|
      path("grabber#{i}.so").tap { |file| FileUtils.cp(NativePrograms.library("grabber"), file) }
    end
  end

  def size(round)
    10_001 + (round * 10)
  end

  def file_name(round)
    "grabber#{round}.so"
  end

  def assert_one_place(output)
    assert_equal [ROUNDS, 1], [output.lines.size, output.lines.uniq.size], "the libraries lay at several places"
  end

  def test_accounting_names_the_library_that_is_there
    run = flight(ruby(program(program_text)))
    assert_one_place(run.output)
    ROUNDS.times do |round|
      [["program.rb:7", size(round)], [nil, size(round) + 1]].each do |line, bytes|
        sites = run.snapshot.select { |site| site.bytes_allocated == 3 * bytes }
        assert_equal [file_name(round)], sites.map { |site| site.location.library }, "blocks of #{bytes} bytes"
        assert_includes sites.first.location.name, line if line
      end
    end
  end

  # By threads that know no Ruby: their sites are the library's own.
  def test_threads_that_load_and_unload_at_once
    8.times { |i| FileUtils.cp(NativePrograms.library("grabber"), path("copy#{i}.so")) }
    rounds = FlightRun.torture(100, 400, 4000)
    run = fly(<<~RUBY)
      require "fiddle"
      library = Fiddle.dlopen(#{NativePrograms.library("grabber").dump})
      Fiddle::Function.new(library["grabber_cycle"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_LONG], Fiddle::TYPE_VOID)
                      .call(#{path("").dump}, #{rounds})
    RUBY
    8.times do |i|
      sites = run.snapshot.select { |site| site.location.library == "copy#{i}.so" }
      assert_equal([[rounds, rounds * (20_000 + i)]], sites.map { |site| [site.allocations, site.bytes_allocated] })
    end
  end

  def test_recordings_name_the_library_that_is_there
    [[], ["--native"]].each do |options|
      fiddle = FlightRun::FIDDLE.map { |directory| "-I#{directory}" }
      out, = record_command(*options, "--", RbConfig.ruby, "--disable=gems", *fiddle, program(program_text))
      assert_one_place(out)
      capture = Heapline::Capture.open(path("run.hlc"))
      ROUNDS.times { |round| assert_recorded(capture, round) }
    end
  end

  def assert_recorded(capture, round)
    [size(round), size(round) + 1].each do |bytes|
      stacks = capture.stacks.select { |stack| [bytes, 3 * bytes].include?(stack.sums.bytes_allocated) }
      libraries = stacks.flat_map(&:frames).filter_map(&:library).grep(/grabber/)
      assert_equal [file_name(round)], libraries.map { |file| File.basename(file) }.uniq, "blocks of #{bytes} bytes"
    end
  end
end
