# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# Each function of the malloc family, on each allocator below, in either order of LD_PRELOAD: results and errno as
# without heapline, and exact counts.
class AllocatorsTest < Minitest::Test
  include FlightRun

  DIRECTORIES = %w[/usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib /usr/local/lib].freeze
  ALLOCATORS = { glibc: nil, jemalloc: "libjemalloc.so.2", tcmalloc: "libtcmalloc_minimal.so.4",
                 mimalloc: "libmimalloc.so.2{,.*}" }.freeze

  ALLOCATORS.each_key do |name|
    define_method("test_the_family_on_#{name}") do
      text = "require #{NativePrograms.extension("family").inspect}\nFamily.run\n"
      text += "Family.whole_pages\n" if name == :glibc
      text += "puts :ruby\n"
      run = assert_same_behaviour(ruby(script(text)), preload: preload(name))
      assert_includes run.output, "ruby\n"
      assert_named(run.snapshot, name)
    end

    define_method("test_the_operators_of_cplusplus_on_#{name}") do
      skip "mimalloc built as C aborts where C++ expects bad_alloc" if name == :mimalloc

      text = "require #{NativePrograms.extension("operators").inspect}\nOperators.run\nputs :ruby\n"
      assert_includes assert_same_behaviour(ruby(script(text)), preload: preload(name)).output, "bad_alloc"
    end

    define_method("test_exact_counts_above_#{name}") do
      assert_exact(flight(counting_program, preload: preload(name)), name)
    end
    define_method("test_exact_counts_behind_#{name}") do
      skip "the order matters only with another allocator" if name == :glibc

      assert_exact(flight(counting_program, before: preload(name)), name)
    end
  end

  # The allocator comes as a needed library of the executable, not through LD_PRELOAD.
  def test_a_ruby_linked_to_jemalloc
    library = preload(:jemalloc).first
    skip "patchelf is missing" unless system("command -v patchelf >/dev/null")

    copy = File.join(workplace, "ruby")
    FileUtils.cp(RbConfig.ruby, copy)
    assert system("patchelf", "--add-needed", library, copy), "patchelf"
    # The copy finds libruby by name, not beside itself.
    run = flight([copy, *counting_program.drop(1)], env: { "LD_LIBRARY_PATH" => RbConfig::CONFIG["libdir"] })
    assert_exact(run, :jemalloc)
  end

  # The one that malloc is bound to counts, not one that lies behind it.
  def test_two_allocators
    %i[tcmalloc mimalloc].permutation.to_a.push(%i[mimalloc jemalloc], %i[tcmalloc jemalloc]).each do |first, second|
      run = flight(ruby(script("puts :ruby\n")), preload: preload(first) + preload(second))
      assert_named(run.snapshot, first)
    end
  end

  private

  # The allocator's path as a list, or empty for glibc.
  def preload(name)
    return [] if name == :glibc

    path = DIRECTORIES.flat_map { |directory| Dir[File.join(directory, ALLOCATORS[name])] }.first
    path ? [path] : skip("#{name} is not installed")
  end

  def counting_program
    ruby(script(<<~RUBY))
      require #{NativePrograms.extension("family").inspect}
      require #{NativePrograms.extension("operators").inspect}
      Family.known
      Operators.known
      $kept = Array.new(100) { |i| "k" * (10_000 + i) }
      Thread.new { Array.new(1000) { |i| "t" * i } }.join
      $kept.shift(50)
      GC.start
    RUBY
  end

  def assert_exact(run, name)
    assert_equal [0, "", ""], [run.status.exitstatus, run.error, run.output]
    snapshot = run.snapshot
    assert_named(snapshot, name)
    assert_empty snapshot.failures
    taken, *rest = figures(snapshot, 3, "family.so")
    assert_includes [12, 13], taken
    assert_equal [12_000_000, taken, 12_000_000], rest
    assert_equal [16, 16_000, 16, 16_000], figures(snapshot, 4, "operators.so")
    assert_operator figures(snapshot, 5, nil)[1], :>=, (10_000...10_100).sum
    snapshot.each { |site| assert_operator site.frees, :<=, site.allocations, site.location.name }
  end

  def figures(snapshot, line, library)
    sites = snapshot.select { |site| site.location.lineno == line && site.location.library == library }
    %i[allocations bytes_allocated frees bytes_freed].map { |figure| sites.sum(&figure) }
  end

  def assert_named(snapshot, name)
    assert_match(/\A#{name} \d+\.\d+/, snapshot.allocator)
  end
end
