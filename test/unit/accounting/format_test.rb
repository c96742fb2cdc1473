# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/flight_builder"
require "support/snapshots"
require "tempfile"
require "heapline/format"

module Heapline
  class FormatTest < Minitest::Test
    include Snapshots

    def test_every_format_renders_a_snapshot
      Format::NAMES.each do |name|
        io = StringIO.new(String.new(encoding: Encoding::BINARY))
        Format.fetch(name).new.render(leaky, io)
        refute_empty io.string, name
      end
    end

    def test_every_format_has_its_line_in_the_docs
      page = File.read(File.join(ROOT, "docs/formats.md"))
      assert_empty(Format::ALL.reject do |entry|
        page.match?(/^\| `#{entry.name}` \|.*#{entry.endings.map { |ending| "`#{Regexp.escape(ending)}`" }.join(".*")}/)
      end)
    end

    def test_an_unknown_format_names_those_that_there_are
      error = assert_raises(UsageError) { Format.fetch("yaml") }
      assert_match(/no such format: yaml; there are text, json, /, error.message)
    end

    def test_the_end_of_a_file_name_says_its_format
      formats = %w[r.pb.gz r.pprof r.csv r.speedscope.json r.json r.folded r.prom r.txt report].map do |name|
        Format.of_file(name)
      end
      assert_equal %w[pprof pprof csv speedscope json collapsed prometheus text text], formats
      assert_equal %w[text svg html], [Format.of_file("r.svg"), Format.of_file("r.svg", pictures: true),
                                       Format.of_file("r.html", pictures: true)]
    end

    def shown(name, **options)
      out = StringIO.new
      Format.show(Format.made(name, **options), leaky, out)
      out.string
    end

    def test_a_format_gets_the_options_that_it_knows
      assert_equal 2, shown("csv", top: 1, directory: "/", env: {}).lines.size
      assert_match(/ temporary▼ /, shown("text", sort: :temporary, env: { "LANG" => "C.UTF-8" }))
      assert_includes shown("csv", sort: :temporary, top: 1), "cache.rb:88"
    end

    # Many sites that are one by some of their names, of several lanes, with figures of all kinds.
    def flight
      builder = FlightBuilder.new(baseline: 1, baseline_kind: 2)
      random = Random.new(7)
      builder.lane(0, owner: 1, baseline: 1)
      400.times { |number| count(builder, planted(builder, number), random) }
      Tempfile.create("flight") { |file| yield builder.write(file.path) }
    end

    def planted(builder, number)
      return builder.special_site("(YJIT)", tag: [nil, "t"][number % 2]) if (number % 11).zero?

      return builder.ruby_site("/app/a.rb", number, label: "Kernel#require", loading: true) if (number % 13).zero?
      return builder.native_site("/usr/lib/libruby.so.3.1", number) if (number % 17).zero?

      library = [nil, "/usr/lib/libone.so", "/opt/libone.so", "/g/gems/nokogiri-1.2.3/lib/nokogiri.so"][number % 4]
      return builder.native_site(library, number % 9, symbol: "s#{number % 2}") if (number % 5).zero?

      path = ["/app/a.rb", "/app/b.rb", "/g/gems/rack-1.0.0/lib/rack.rb"][number % 3]
      builder.ruby_site(path, number % 7, label: "m#{number % 2}", library: library, tag: [nil, "t", "u"][number % 3])
    end

    def count(builder, site, random)
      allocations, old = random.rand(1000), random.rand(500) # rubocop:disable Style/ParallelAssignment
      frees = random.rand(0..allocations)
      builder.count(random.rand(2), site, allocations: allocations, bytes_allocated: allocations * 10, frees: frees,
                                          bytes_freed: frees * 10, temporary: frees / 2, age_sum: frees * 3,
                                          age_max: random.rand(9), age_ms_sum: frees, age_ms_max: 4)
      builder.base(0, site, allocations: [old, allocations].min, bytes_allocated: [old, allocations].min * 10)
    end

    # What is chosen shows what all would.
    def test_a_choice_is_enough
      flight do |path|
        all = Accounting::Flight.read(path)
        names = %w[text json csv collapsed speedscope html prometheus openmetrics]
        names.product([nil, *Format::GROUPS.keys], %i[growth blocks life],
                      [nil, 3], [0, 9000]) do |name, by, sort, top, min|
          next if by && name.end_with?("collapsed", "html", "metrics", "prometheus", "speedscope")

          options = { by: by, sort: sort, top: top, min: min }.compact
          chosen = Accounting::Flight.read(path, wanted: Format.wanted(name, **options))
          assert_equal rendered(name, all, **options), rendered(name, chosen, **options), "#{name} #{options}"
        end
      end
    end

    def rendered(name, snapshot, **options)
      io = StringIO.new
      Format.made(name, env: {}, **options).render(snapshot.with(taken_at: nil), io)
      io.string
    end

    # What is start-up, what is loading, and what is neither.
    STAGES = {
      "(start-up)" => [[:native, "/usr/lib/libruby-3.4.so.3.4"], [:native, "/usr/bin/ruby3.4"],
                       [:ruby, "ruby", 0, nil], [:ruby, "<main>", 0, nil],
                       [:ruby, "/usr/bin/ruby", 0, "<main>"],
                       [:ruby, "<internal:gem_prelude>", 2, "<internal:gem_prelude>"]],
      "(loading)" => [[:ruby, "/app/a.rb", 1, "Kernel#require", true], [:ruby, "/r/lib/ruby/3.4.0/x.so", 0, nil],
                      [:ruby, "/r/lib/ruby/3.4.0/rubygems/util.rb", 9, "Gem::Util.glob"],
                      [:ruby, "/g/gems/zeitwerk-2.7.0/lib/zeitwerk/kernel.rb", 26, "Kernel#require"],
                      [:ruby, "/r/lib/ruby/4.0.0/bundled_gems.rb", 60, "block (2 levels) in replace_require"],
                      [:ruby, "/r/lib/ruby/3.4.0/json.rb", 2, "<top (required)>"],
                      [:ruby, "/r/lib/ruby/3.4.0/psych.rb", 7, "singleton class"],
                      [:ruby, "/g/gems/a-1.0.0/lib/a.rb", 7, "Module#delegate (loading)"],
                      [:ruby, "/r/lib/ruby/gems/3.4.0/specifications/default/csv-3.2.2.gemspec", 14, "block in x"],
                      [:ruby, "/g/gems/net-http-0.4.1/lib/a.rb", 3, "<class:Net>"]],
      nil => [[:ruby, "/app/a.rb", 1, "<main>"], [:ruby, "/app/a.rb", 0, "<main>"],
              [:ruby, "/app/gems/b.rb", 1, "<top (required)>"],
              [:ruby, "/app/ruby/b.rb", 1, "<class:B>"], [:ruby, "/g/gems/a-3.0.8/bin/a", 1, "<top (required)>"],
              [:ruby, "/g/gems/rack-3.0.8/lib/a.rb", 1, "block in <class:Rack>"], [:ruby, "(eval)", 0, "App#run"],
              [:ruby, "<internal:kernel>", 187, "Kernel#loop"], [:native, "/usr/lib/librubyish"],
              [:native, "/usr/lib/ruby.so"], [:native, nil], [:special, "(YJIT)"]]
    }.freeze

    def staged(builder, kind, name, line = 7, label = nil, loading = false) # rubocop:disable Style/OptionalBooleanParameter
      case kind
      when :ruby then builder.ruby_site(name, line, label: label, loading: loading, tag: %w[t u][line % 2])
      when :native then builder.native_site(name, line)
      else builder.special_site(name)
      end
    end

    # Each has `bytes`; with a baseline half of them from before, but for what `grown` says.
    def stages(bytes, baseline: 0)
      builder = FlightBuilder.new(baseline: baseline, baseline_kind: baseline.positive? ? 2 : 0)
      builder.lane(0, owner: 1, baseline: baseline)
      STAGES.values.flatten(1).each_with_index do |place, i|
        site = staged(builder, *place)
        builder.count(0, site, allocations: 1, bytes_allocated: bytes)
        builder.base(0, site, allocations: 1, bytes_allocated: yield(i) ? bytes / 2 : bytes) if baseline.positive?
      end
      Tempfile.create("flight") { |file| yield_rows(builder.write(file.path)) }
    end

    def yield_rows(path)
      chosen = Accounting::Flight.read(path, wanted: Format.wanted("text", top: 0))
      [chosen.sites.to_h { |site| [site.location.to_s, site] }, chosen]
    end

    def test_start_up_and_loading_are_one_row_each
      rows, snapshot = stages(1000)
      STAGES.each { |name, places| assert_equal places.size * 1000, rows.fetch(name).live_bytes, name if name }
      assert_equal STAGES[nil].size + 2, rows.size
      assert_equal 1000, rows.fetch("/app/a.rb:1").live_bytes, "the rest of a line that calls require"
      assert_equal snapshot.live_bytes, rows.values.sum(&:live_bytes)
      assert_equal snapshot.allocations, rows.values.sum(&:allocations)
    end

    # A reader looks for the program's lines.
    def test_what_the_vm_took_stands_below_the_lines
      _, snapshot = stages(1000)
      table = rendered("text", snapshot).lines.grep(/ B  |kB  /)
      assert_equal(%w[(loading) (start-up) (YJIT)], table.last(3).map { |row| row.split.last })
      assert_equal STAGES[nil].size + 2, table.size
    end

    # It may be a leak.
    def test_what_grew_since_the_baseline_stays_a_row
      rows, snapshot = stages(1000, baseline: 1) { |i| [0, 6].include?(i) }
      assert_equal 500, rows.fetch("libruby-3.4.so.3.4+0x7").growth_bytes
      assert_equal [2000, 500], rows.fetch("/app/a.rb:1").to_h.values_at(:live_bytes, :growth_bytes)
      assert_equal [5000, 0], rows.fetch("(start-up)").to_h.values_at(:live_bytes, :growth_bytes)
      assert_equal snapshot.live_bytes, rows.values.sum(&:live_bytes)
      assert_equal snapshot.growth_bytes, rows.values.sum(&:growth_bytes)
    end

    def test_little_is_read_for_a_few_rows
      flight do |path|
        chosen = Accounting::Flight.read(path, wanted: Format.wanted("text", top: 2))
        assert_equal 2, chosen.sites.size
        assert_equal Accounting::Flight.read(path).live_bytes, chosen.live_bytes
      end
    end

    # Lines where nothing lives have no width in a picture: of a million that were run once they are nearly all.
    def test_lines_without_a_width_are_not_read
      Dir.mktmpdir do |directory|
        builder = FlightBuilder.new
        builder.lane(0)
        [0, 50, 50].each_with_index do |freed, line|
          builder.count(0, builder.ruby_site("a.rb", line), allocations: 1 + line, bytes_allocated: 50,
                                                            bytes_freed: freed)
        end
        path = builder.write(File.join(directory, "x"))
        chosen = Accounting::Flight.read(path, wanted: Format.wanted("collapsed"))
        assert_equal [50], chosen.sites.map(&:live_bytes)
        assert_equal "(application);a.rb;a.rb:0 50\n", rendered("collapsed", chosen)
        first = { top: 1, sort: :allocs }
        chosen = Accounting::Flight.read(path, wanted: Format.wanted("collapsed", **first))
        assert_empty rendered("collapsed", chosen, **first), "the one with most calls has none either"
      end
    end

    def test_what_has_no_effect_is_an_error
      error = assert_raises(UsageError) { Format.made("speedscope", by: :gem) }
      assert_equal "speedscope has no --by", error.message
      assert_raises(UsageError) { Format.made("yaml") }
    end

    def test_bytes_that_are_no_text_do_not_go_to_a_terminal
      terminal = StringIO.new
      terminal.define_singleton_method(:tty?) { true }
      assert_raises(UsageError) { Format.show(Format.made("pprof"), leaky, terminal) }
      assert_empty terminal.string
      Format.show(Format.made("csv"), leaky, terminal)
      refute_empty terminal.string
    end
  end
end
