# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# What is counted and what is not, as the table in docs/architecture.md has it: each way to get memory alone.
class CountedTest < Minitest::Test
  include FlightRun

  SIZE = 1001
  # Who asked; then blocks and bytes that are taken, and those of them that are given back before the last is kept.
  OWN = { "malloc" => [1, SIZE, 0, 0], "calloc" => [1, SIZE, 0, 0], "realloc" => [2, 500 + SIZE, 1, 500],
          "realloc_of_nothing" => [1, SIZE, 0, 0], "realloc_to_nothing" => [1, SIZE, 1, SIZE],
          "reallocarray" => [1, SIZE, 0, 0], "posix_memalign" => [1, SIZE, 0, 0], "aligned_alloc" => [1, 1024, 0, 0],
          "memalign" => [1, SIZE, 0, 0], "valloc" => [1, SIZE, 0, 0], "pvalloc" => [1, 4096, 0, 0] }.freeze
  # libc takes what it needs on the way, and the block that it hands out: of so many bytes at least.
  LIBC = { "strdup" => SIZE, "strndup" => 501, "getline" => SIZE, "asprintf" => SIZE, "open_memstream" => SIZE,
           "realpath" => 2, "getcwd" => 2 }.freeze
  NOT = %w[mmap sbrk alloca].freeze
  NAMES = [*OWN.keys, *LIBC.keys, *NOT].freeze

  # Counts of each name's line, in two runs: while its last block is kept, and after it was given back.
  def counted
    @counted ||= [true, false].map do |keeping|
      give_back = "Counted.give_back" unless keeping
      lines = NAMES.map { |name| "Counted.#{name}; #{give_back}" }
      run = fly("require #{NativePrograms.extension("counted").inspect}\n#{lines.join("\n")}\n")
      assert_equal ["", 0], [run.error, run.status.exitstatus]
      NAMES.each_with_index.to_h { |name, i| [name, figures(run.snapshot, i + 2)] }
    end
  end

  # [allocations, bytes, frees, bytes freed] by library.
  def figures(snapshot, line)
    sites = snapshot.select { |site| site.location.path&.end_with?("program.rb") && site.location.lineno == line }
    sites.select { |site| site.location.library }.group_by { |site| site.location.library }.transform_values do |group|
      %i[allocations bytes_allocated frees bytes_freed].map { |figure| group.sum(&figure) }
    end
  end

  OWN.each do |name, (blocks, bytes, ended, bytes_ended)|
    define_method("test_#{name}") do
      kept, given_back = counted.map { |lines| lines[name] }
      assert_equal({ "counted.so" => [blocks, bytes, ended, bytes_ended] }, kept)
      assert_equal({ "counted.so" => [blocks, bytes, blocks, bytes] }, given_back)
    end
  end

  LIBC.each do |name, bytes|
    define_method("test_#{name}") do
      kept, given_back = counted.map { |lines| lines[name] }
      assert_equal [1], kept.values.map { |taken, _, ended,| taken - ended }, "one block is left"
      assert_operator kept.values.sum { |_, taken, _, ended| taken - ended }, :>=, bytes
      assert_match(/\Alibc[.-]/, kept.keys.join)
      taken, taken_bytes, ended, ended_bytes = given_back.values.first
      assert_equal [taken, taken_bytes], [ended, ended_bytes], "none is left"
    end
  end

  NOT.each do |name|
    define_method("test_#{name}_is_not_counted") { assert_equal([{}, {}], counted.map { |lines| lines[name] }) }
  end

  def test_programs_without_ruby_are_not_counted
    run = flight(["/bin/sh", "-c", "echo done"])
    assert_equal ["done\n", "", [], 0], [run.output, run.error, run.paths, run.status.exitstatus]
  end

  def test_the_table_of_the_docs_has_every_name
    page = File.read(File.expand_path("../../docs/architecture.md", __dir__))
    table = page[/^\*\*What is counted\.\*\*.*?(?=^\*\*Mappings)/m]
    NAMES.map { |name| name[/\A(posix_memalign|aligned_alloc|open_memstream|[a-z]+)/] }.uniq.each do |name|
      assert_includes table, "`#{name}`"
    end
  end
end
