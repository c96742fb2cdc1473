# frozen_string_literal: true

require "test_helper"
require "support/recorded"

# Recordings on other allocators, of Ractors, with compiled code: the counts are what the program planted, and the sums
# are the accounting's.
class RecordAllocatorsTest < Minitest::Test
  include Recorded

  DIRECTORIES = %w[/usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib /usr/local/lib].freeze
  ALLOCATORS = { jemalloc: "libjemalloc.so.2", tcmalloc: "libtcmalloc_minimal.so.4",
                 mimalloc: "libmimalloc.so.2{,.*}" }.freeze
  # 400 of 8,001 bytes, 2,000 of 8,011 by four threads, and each function of the family.
  PLANTED = <<~RUBY.freeze
    400.times { "a" * 8_000 }
    4.times.map { Thread.new { 500.times { "t" * 8_010 } } }.each(&:join)
    require #{NativePrograms.extension("family").inspect}
    Family.known
    GC.start
  RUBY

  def counts(capture, *sizes)
    sizes.map { |size| capture.births.count { |event| event.bytes == size } }
  end

  ALLOCATORS.each_key do |name|
    define_method("test_on_#{name}") do
      capture = record(PLANTED, env: { LD_PRELOAD: library(name), HEAPLINE: "keep" })
      assert_predicate @status, :success?, @err
      assert_exact capture
      assert_equal [400, 2_000], counts(capture, 8_001, 8_011)
      out, = heapline("report", "--json", path("run.hlc"))
      assert_match(/#{name}/, JSON.parse(out)["captures"].first["allocator"])
    end
  end

  def library(name)
    DIRECTORIES.flat_map { |directory| Dir[File.join(directory, ALLOCATORS[name])] }.first or
      skip("#{name} is not installed")
  end

  RACTORS = <<~RUBY
    Warning[:experimental] = false
    def planted = 300.times { "r" * 8_020 }
    all = 4.times.map { Ractor.new { planted; 300.times { "R" * 8_030 }; :done } }
    all.each { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
    GC.start
  RUBY

  def test_ractors
    capture = record(RACTORS, env: { HEAPLINE: "keep" })
    assert_predicate @status, :success?, @err
    assert_exact capture
    assert_equal [1_200, 1_200], counts(capture, 8_021, 8_031)
    planted = capture.births.select { |event| event.bytes == 8_021 }
    # Ractors may share native threads, but not the main one.
    refute_includes planted.map { |event| capture.threads.fetch(event.thread).last }.uniq, capture.pid
    assert_equal(1_200, planted.count { |event| event.stack.last.match?(/planted@.*program\.rb:2\z/) })
  end

  COMPILED = <<~RUBY
    def inner(n) = "y" * (8_040 + n % 2)
    def outer(n) = inner(n)
    20_000.times { |n| outer(n) }
    $stdout.print RubyVM::YJIT.enabled?
  RUBY

  def test_compiled_code
    skip "this Ruby has no YJIT" unless system(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?",
                                               err: File::NULL)

    capture = record(COMPILED, ruby: ["--yjit"], env: { HEAPLINE: "keep" })
    assert_equal "true", @out, @err
    assert_exact capture
    assert_equal [10_000, 10_000], counts(capture, 8_041, 8_042)
    # Without "Object#": a method that is met again while the GC runs is named without its owner.
    stacks = capture.births.select { |event| event.bytes == 8_041 }.map do |event|
      event.stack.last(2).map { |frame| frame[/(\w+)@/, 1] + frame[/:\d+\z/] }
    end
    assert_equal [%w[outer:2 inner:1]], stacks.uniq
  end
end
