# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "support/services"

# docs/production.md: each command on a real Puma cluster of two workers under load, the shop of examples/shop.
class ProductionTest < Minitest::Test
  include Services

  SHOP = File.expand_path("../../examples/shop", __dir__)
  PUMA = 'load Gem.bin_path("puma", "puma")'
  LINES = 14

  def setup
    super
    skip "the core is not compiled: rake compile" unless File.exist?(Heapline::TestHelper::CORE)
    skip "the gem puma is not installed" if Gem::Specification.find_all_by_name("puma").empty?
    open_shop
    @load = Thread.new { loop { visit(1) } }
  end

  def teardown
    @load&.kill&.join
    super
  end

  def test_which_line
    before, after = %w[before after].map { |name| place("#{name}.heapline") }
    heapline("snapshot", @worker, "-o", before)
    visit(100)
    heapline("snapshot", @worker, "-o", after)
    # By method, and not by line: Ruby 3.1 and 3.2 copy young tables to malloc's memory where a method returns, which is
    # a row of its own at the method's `end`.
    sites = JSON.parse(heapline("diff", before, after, "--json"))["sites"].group_by { |site| site["label"] }
    grown = sites.transform_values { |rows| rows.sum { |site| site["growth_bytes"] } }
    assert_operator grown.fetch("Shop::Preview#initialize"), :>=, 4096
    assert_operator grown.fetch("Shop::Sessions#add"), :>=, 600
    assert_match(/Shop::Preview#initialize/, heapline("report", "--merge", @master))
    assert_includes heapline("top", "--once", @master), "examples/shop/shop.rb:29"
    assert_match(/puma: cluster worker 0/, heapline("ps"))
    assert_match(/growth counts from now on/, heapline("baseline", *PATIENTLY, @worker))
  end

  def test_where_resident_memory_is
    ledger = JSON.parse(heapline("rss", *PATIENTLY, @worker, "--json"))
    lines = ledger["lines"].to_h { |line| line.values_at("key", "bytes") }
    assert_equal ledger["rss_bytes"], lines.values.sum
    assert_operator lines.fetch("remainder", 0).abs, :<, ledger["rss_bytes"] * 0.03
    assert_operator lines["malloc_ruby"], :>, 3_000_000
    assert_operator lines["objects_live"], :>, 1_000_000
    assert_match(/gave back|nothing/, heapline("trim", *PATIENTLY, @worker))
  end

  def test_is_it_a_leak
    logs = Dir[place("log-*.jsonl")]
    await("the log has too few lines") do
      logs = Dir[place("log-*.jsonl")]
      logs.size == 3 && logs.all? { |log| File.foreach(log).count >= LINES }
    end
    told = JSON.parse(heapline("growth", "--json", *logs))
    preview = told["series"].find { |series| series["label"] == "Shop::Preview#initialize" }
    assert_equal 2, preview["processes"]
    assert_operator preview["growth_bytes"], :>, 0
  end

  FORMATS = { "text" => /malloc by Ruby lines/, "json" => /"schema_version"/, "csv" => /,Shop::Preview#initialize,/,
              "collapsed" => /;Shop::Preview#initialize shop.rb:29 \d+$/, "speedscope" => /speedscope/,
              "pprof" => /\A\x1f\x8b/n, "prometheus" => /^heapline_site_live_bytes\{/, "openmetrics" => /^# EOF$/,
              "html" => /Content-Security-Policy/ }.freeze

  def test_every_format
    FORMATS.each do |format, pattern|
      assert heapline("report", "--format", format, @worker).b.match?(pattern), "#{format} lacks #{pattern.inspect}"
    end
  end

  private

  def open_shop
    @cluster = launch(*heapline_command("--quiet", "--log", place("log-%p.jsonl"), "--every", "0.5"),
                      RbConfig.ruby, "-e", PUMA, "--", "-C", File.join(SHOP, "puma.rb"), File.join(SHOP, "config.ru"),
                      env: surroundings(PORT: "0"))
    @port = said(@cluster, %r{Listening on http://127\.0\.0\.1:(\d+)}).to_i
    @master = @cluster.pid.to_s
    @worker = said(@cluster, /Worker 0 \(PID: (\d+)\) booted/)
    said(@cluster, /Worker 1 \(PID: (\d+)\) booted/)
    visit(300)
  end

  # So many visits of each page, each by a connection of its own, so that both workers get some.
  def visit(count)
    count.times do |number|
      %W[/session /preview/#{number} /products/#{number}].each { |path| get("http://127.0.0.1:#{@port}#{path}").value }
    end
  end

  def heapline(*words)
    out, err, status = Open3.capture3(surroundings(COLUMNS: "120"), *heapline_command(*words))
    assert status.success?, err
    out
  end
end
