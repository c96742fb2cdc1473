# frozen_string_literal: true

require "json"

# Reads lines of a growth log and checks each against the schema of docs/growth-log.md.
module GrowthLines
  COUNT = ->(value) { value.is_a?(Integer) && !value.negative? }
  CHANGE = ->(value) { value.is_a?(Integer) }
  NUMBER = ->(value) { value.is_a?(Numeric) && !value.negative? }
  TEXT = ->(value) { value.is_a?(String) && !value.empty? }
  TIME = ->(value) { value.is_a?(String) && value.match?(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/) }
  MAYBE = ->(check) { ->(value) { value.nil? || check.call(value) } }
  SHARE = ->(value) { value.is_a?(Numeric) && value.between?(0, 1) }

  TOTALS = %w[allocations frees bytes_allocated bytes_freed live_bytes live_blocks growth_bytes].freeze
  LEDGER = %w[objects_live objects_free malloc_ruby malloc_native malloc_older malloc_held heapline stacks jit code
              other remainder].freeze
  LINE = {
    "schema" => ->(value) { value == "heapline-growth/2" }, "time" => TIME, "host" => TEXT, "pid" => COUNT,
    "started_at" => TIME, "parent_pid" => COUNT, "forked_from_pid" => MAYBE[COUNT], "command" => MAYBE[TEXT],
    "ruby" => MAYBE[TEXT], "allocator" => MAYBE[TEXT],
    "state" => ->(value) { %w[running exited killed execed].include?(value) }, "seq" => COUNT,
    "elapsed_s" => MAYBE[NUMBER], "every_s" => NUMBER, "rss_bytes" => MAYBE[COUNT], "pss_bytes" => MAYBE[COUNT],
    "swap_bytes" => MAYBE[COUNT], "moved_bytes" => COUNT,
    "ledger" => MAYBE[->(value) { value.keys == LEDGER && value.values.all?(Integer) }],
    "totals" => ->(value) { value.keys == TOTALS && value.values.all?(Integer) }, "gc_count" => COUNT,
    "generation" => COUNT, "dropped_lines" => COUNT, "snapshot" => MAYBE[TEXT],
    "sites" => ->(value) { value.is_a?(Array) }
  }.freeze
  SITE = {
    "location" => TEXT, "label" => MAYBE[TEXT], "gem" => MAYBE[TEXT], "library" => MAYBE[TEXT], "tag" => MAYBE[TEXT],
    "kind" => ->(value) { %w[ruby native special].include?(value) }, "live_bytes" => CHANGE, "live_blocks" => CHANGE,
    "growth_bytes" => CHANGE, "allocations" => COUNT, "bytes_allocated" => COUNT,
    "alloc_bytes_per_s" => MAYBE[COUNT], "age_mean_generations" => MAYBE[NUMBER],
    "age_max_generations" => MAYBE[COUNT], "age_mean_ms" => MAYBE[NUMBER], "temporary_share" => MAYBE[SHARE]
  }.freeze

  # Of a site that the line before did not list: lines before, the oldest first.
  EARLIER = lambda do |lines|
    ages = lines.map(&:first)
    lines.all? { |line| line.size == 4 && line.all?(Numeric) } && ages == ages.sort.reverse
  end

  # The lines of a log (Array of Hashes), each checked.
  def growth_lines(text)
    text.lines.map { |line| assert_growth_line(line) }
  end

  # One line, checked; the Hash.
  def assert_growth_line(line)
    assert line.end_with?("\n"), "torn: #{line[-80..]}"
    assert_predicate line, :ascii_only?
    hash = JSON.parse(line)
    assert_fields LINE, hash
    assert_equal hash["rss_bytes"], hash["ledger"].values.sum if hash["ledger"]
    hash["sites"].each { |site| assert_fields site["earlier"] ? { **SITE, "earlier" => EARLIER } : SITE, site }
    hash
  end

  # The lines of one process, in order: numbers without a hole, times that add up, sites that stay.
  def assert_series(lines)
    assert_equal((0...lines.size).to_a, lines.map { |line| line["seq"] })
    assert_nil lines.first["elapsed_s"]
    assert_equal 1, lines.map { |line| line.values_at("pid", "started_at") }.uniq.size
    lines.each_cons(2) do |before, after|
      assert_operator after["time"], :>=, before["time"]
      assert_equal "running", before["state"]
    end
    lines
  end

  private

  def assert_fields(checks, hash)
    assert_equal checks.keys.sort, hash.keys.sort
    assert_empty(checks.reject { |name, check| check.call(hash[name]) }.keys.to_h { |name| [name, hash[name]] })
  end
end
