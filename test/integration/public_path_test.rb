# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/taken"
require_relative "attribution_test"

# The same programs, the same lines.
class PublicAttributionTest < AttributionTest
  # Without the GVL Ruby cannot be asked.
  undef_method :test_without_the_gvl, :test_threads_over_native_threads

  def flight(command, heapline: "keep", **others)
    run = super(command, heapline: [heapline, "api"].compact.join(","), **others)
    assert_equal :public, run.snapshot.attribution if heapline.to_s.include?("keep")
    run
  end
end

# On a Ruby that heapline does not know, lines come from rb_profile_frames: slower, said in one line, and as right.
class PublicPathTest < Minitest::Test
  include FlightRun
  include Taken

  SAID = /\Aheapline: as asked for \(--public-api or HEAPLINE=api\): lines come through .*\n\z/

  # Destructors of libraries run when there is no VM any more.
  def test_a_library_allocates_after_the_vm
    run = flight(ruby("-ropenssl", "-e", "OpenSSL::Digest::SHA256.hexdigest('a')"), heapline: "keep,api")
    assert_equal 0, run.status.exitstatus, run.error
  end

  def test_lines
    run = assert_taken(<<~'RUBY', heapline: "keep,api")
      def in_a_method
        take 7801
      end
      in_a_method
      [1].each do
        take 7802
      end
      Thread.new { take 7803 }.join
      Fiber.new { take 7804 }.resume
      eval "\ntake 7805", binding, "given.rb", 20 # at: given.rb:21
      # Of a frame inside a method rb_profile_frames knows the method, which lies in another file.
      def evaluating = eval("\ntake 7808", nil, "other.rb", 30) # at: other.rb:31
      evaluating
      def defining = Object.class_eval("\n\ndef defined = take(7809)", "third.rb", 40) # at: third.rb:42
      defining
      defined
      3.times { GC.start; take 7806 }
      GC.respond_to?(:compact) && GC.compact
      take 7807
    RUBY
    assert_match SAID, run.error
    assert_equal :public, run.snapshot.attribution
    assert_empty run.snapshot.failures
  end

  # While a file is being read and compiled, none of its lines run.
  def test_what_loading_a_file_takes
    needed = script("$needed = 'n' * 9_000\n#{"# more to read\n" * 9000}", name: "needed.rb")
    run = fly("require #{needed.inspect}\n", heapline: "keep,api,internal", gems: true)
    lines = run.snapshot.select { |site| site.location.path == needed }.map { |site| site.location.lineno }
    assert_equal [1], lines.uniq
  end

  # Without the GVL Ruby cannot be asked: the library and its symbol stand for the line.
  def test_without_the_gvl
    run = fly("require #{taker.inspect}\nTaker.unlocked(7811)\n", heapline: "keep,api")
    site = run.snapshot.find { |each| each.bytes_allocated == 7811 }
    assert_equal [:native, "taker.so"], [site.kind, site.location.library]
  end

  def test_evaluated_and_freed_code
    run = fly(<<~RUBY, heapline: "keep,api")
      require #{taker.inspect}
      20_000.times { |i| eval("Taker.take(\#{10_000 + i % 89})", nil, "evaluated", i % 89) }
    RUBY
    assert run.status.success?, run.error
    sites = run.snapshot.select { |site| site.location.library == "taker.so" }
    assert_equal 20_000, sites.sum(&:allocations)
    sites.each { |site| assert_equal site.allocations * (10_000 + site.location.lineno), site.bytes_allocated }
  end

  def test_torture
    run = fly(<<~RUBY, heapline: "keep,api")
      GC.stress = true
      20.times { |i| Thread.new { "t" * i }.join; Fiber.new { "f" * i }.resume }
      GC.stress = false
      10.times { Process.wait(fork { Array.new(100) { |i| "c" * i } }) }
      50.times { GC.compact if GC.respond_to?(:compact) }
      puts :done
    RUBY
    assert_equal "done\n", run.output
    assert_match SAID, run.error
    run.snapshots.each { |snapshot| assert_empty snapshot.failures }
  end
end
