# frozen_string_literal: true

require "stringio"
require "test_helper"
require "support/reports"
require "support/snapshots"
require "heapline/format"
require "heapline/accounting/html"
require "support/object_snapshots"

module Heapline
  module Accounting
    class HtmlTest < Minitest::Test
      include ObjectSnapshots
      include Reports

      HOSTILE = ["<script>alert(1)</script>.rb", "</script><!--.rb", "\e[31m.rb", "nul\0.rb", "\u202Egpj.rb",
                 "line\u2028.rb", "bad\xFF.rb"].freeze

      def render(snapshot, **options)
        io = StringIO.new
        Html.new(**options).render(snapshot, io)
        io.string
      end

      def data(page)
        JSON.parse(page[%r{<script type="application/json" id="data">(.*?)</script>}m, 1])
      end

      def test_the_name_html_and_files_of_that_name
        assert_same Html, Format.fetch("html")
        assert_equal "html", Format.of_file("report.html")
      end

      def test_the_policy_allows_the_script_and_the_style_that_are_there_and_nothing_else
        page = render(leaky)
        policy = page[/Content-Security-Policy" content="([^"]+)"/, 1]
        script = page[%r{<script>(.*?)</script>}m, 1]
        style = page[%r{<style>(.*?)</style>}m, 1]

        assert_includes policy, "default-src 'none'"
        assert_includes policy, "script-src 'sha256-#{Digest::SHA256.base64digest(script)}'"
        assert_includes policy, "style-src 'sha256-#{Digest::SHA256.base64digest(style)}'"
        assert_operator page.index("Content-Security-Policy"), :<, page.index("<style>")
      end

      def test_the_bundle_can_stand_between_its_tags
        refute_match(%r{</script}i, File.read(File.join(Page::Document::ASSETS, "report.js")))
        refute_match(%r{</style}i, File.read(File.join(Page::Document::ASSETS, "report.css")))
      end

      # At no line: Ruby 4.0 makes some of its own.
      def test_ruby_objects_at_a_place_in_the_vm
        vm = File.readlines("/proc/self/maps", chomp: true).map { |line| line.split.last }.grep(Places::GemName::RUBY)
        place = Places::Location.new(library: "libruby", library_path: vm.first, offset: 0x10_0000)
        made = objects_at("a.rb", 1, "Order", allocated: 3)
        page = render(leaky.with(objects: objects(made.class.new(**made.to_h, location: place))))
        assert_equal 1, data(page)["strings"].grep(/\AVM.*, near \w/).size
        assert_includes data(page)["strings"], "Order"
      end

      def test_hostile_names_cannot_leave_the_data
        sites = HOSTILE.map { |name| site("/app/#{name}", 1, label: name, library: name, tag: name, live_bytes: 9) }
        page = render(snapshot(*sites, command: ["ruby", *HOSTILE]))

        assert_predicate page, :valid_encoding?
        refute_match(/[\0\e\u202E\u2028]/, page)
        assert_equal 2, page.scan("</script>").size
        refute_includes page[%r{<title>.*</title>}], "<script>"
        assert_includes data(page)["strings"], "/app/<script>alert(1)</script>.rb"
        assert_includes data(page)["strings"], "/app/nul\\x00.rb"
      end

      def test_the_same_snapshot_gives_the_same_bytes
        assert_equal render(leaky), render(leaky)
      end

      def test_nothing_in_the_page_comes_from_elsewhere
        markup = render(leaky).sub(%r{<script>.*?</script>}m, "").sub(%r{<style>.*?</style>}m, "")
        refute_match(%r{https?://|\bsrc=|<link|\son\w+=|\sstyle=}, markup.sub(/<meta [^>]*Policy[^>]*>/, ""))
      end

      def test_growth_without_a_snapshot
        page = render(nil, growth: growth)
        assert_nil data(page)["sites"]
        assert_equal [], data(page)["growth"]["series"]
      end
    end

    class PageDataTest < Minitest::Test
      include Snapshots
      include Reports

      def data(snapshot, **options)
        PageData.new(selection: Table::Selection.new(**options.slice(:top)), **options.except(:top)).of(snapshot)
      end

      def test_what_is_not_there_is_null
        found = data(leaky)
        assert_nil found[:ledger]
        assert_nil found[:growth]
        assert_nil data(nil)[:sites]
      end

      def test_the_largest_growth_is_first_and_what_is_left_out_is_counted
        found = data(leaky, top: 1)
        assert_equal [51_200_000], found[:sites][:live_bytes]
        assert_equal 1, found[:left_out]
      end

      # A page of a million sites is no help to anyone: it says of how many it is.
      def test_a_page_has_so_many_sites_at_most
        most = Html::MOST
        many = snapshot.with(sites: Array.new(most + 2) { |line| site("a.rb", line, live_bytes: line) })
        found, large = [0, most].map do |min|
          page = StringIO.new.tap { |io| Html.new(source: false, min: min).render(many, io) }.string
          JSON.parse(page[%r{id="data">(.*?)</script>}m, 1])
        end
        assert_equal [most, 2], [found["sites"]["line"].size, found["left_out"]]
        assert_equal ["These are the 50,000 sites with the largest figures. 2 others are in the totals, " \
                      "but in no sum below. --top 0 writes all."], found["notes"]
        assert_equal most + 2, data(many, top: 0, source: false)[:sites][:line].size
        assert_equal most, Format.wanted("html").top
        assert_empty data(many, top: 2, source: false)[:notes], "who asked for two knows that there are others"
        assert_equal [most, []], large.values_at("left_out", "notes"), "who asked for large ones knows it too"
      end

      def test_the_columns_as_they_are_declared
        life = data(leaky)[:columns].find { |column| column[:key] == :life }
        assert_equal({ key: :life, title: "life GCs", unit: :generations, rank: 4, figure: :age_sum, per: :frees,
                       help: "How long the freed blocks lived in GC generations, the mean" }, life)
      end

      def test_the_ledger_with_its_parts
        line = data(leaky, ledger: ledger)[:ledger][:lines].find { |each| each[:key] == "malloc_ruby" }
        assert_equal [{ key: "rack", name: "rack", bytes: 30_000_000, parts: [] }], line[:parts].first(1)
      end

      def test_sources_only_where_they_are_wanted
        here = snapshot(site(File.expand_path(__FILE__), 3, live_bytes: 1))
        assert_equal [0], data(here)[:sources].keys
        assert_empty data(here, source: false)[:sources]
      end
    end

    class SiteColumnsTest < Minitest::Test
      include ObjectSnapshots

      def columns(*sites)
        made = SiteColumns.new(sites)
        [made.to_h, made.strings]
      end

      def test_names_are_numbers_of_strings_and_none_is_the_first
        found, strings = columns(site("/g/gems/rack-1.0/a.rb", 7, label: "A#b", library: "liba.so", tag: "t"),
                                 site("/g/gems/rack-1.0/a.rb", 8))
        names = %i[place label library gem tag].map { |name| found[name].map { |number| strings[number] } }
        assert_equal [["/g/gems/rack-1.0/a.rb"] * 2, ["A#b", ""], ["liba.so", ""], %w[rack rack], ["t", ""]], names
        assert_equal [7, 8], found[:line]
        assert_equal strings.uniq, strings
      end

      def test_native_code_has_a_name_and_no_line
        place = Places::Location.new(library: "libxml2.so.2", offset: 0x1f30)
        native = Site.new(location: place, kind: :native, **Site::ZERO)
        found, strings = columns(native, site("<main>", 0))
        assert_equal [-1, 0], found[:line]
        assert_equal "libxml2.so.2+0x1f30", strings[found[:place].first]
      end

      def test_a_figure_a_column
        found, = columns(site("a.rb", 1, live_bytes: 5, frees: 3), site("b.rb", 1, age_ms_max: 9))
        assert_equal [[5, 0], [3, 0], [0, 9]], found.values_at(:live_bytes, :frees, :age_ms_max)
      end

      # The scripts of the report's page take figures and columns from its data: they know what lives by name,
      # and of the series of a growth log what grew.
      def test_no_script_lists_figures
        sources = Dir[File.join(ROOT, "assets/src/*.ts")]
        known = Figures::SiteFigures::ALL.map { |figure| figure.figure.to_s }.grep(/_/)
        found = sources.flat_map { |path| File.read(path).scan(/\b\w+\b/) & known }
        assert_equal %w[growth_bytes live_blocks live_bytes], found.uniq.sort
      end

      def test_what_is_declared_is_there
        found = PageData.new(selection: Table::Selection.new(top: 0, sort: :growth_bytes)).of(snapshot(site("a.rb", 1)))
        known = found[:figures].map { |figure| figure[:figure] }
        assert_equal SiteColumns::FIGURES, known
        assert_empty found[:columns].flat_map { |column| column.values_at(:figure, :per) }.compact - known
        assert_equal(%i[age_max age_ms_max], found[:figures].filter_map { |one| one[:figure] if one[:longest] })
      end

      def test_ruby_objects_have_a_class
        found, strings = columns(site("a.rb", 1, live_bytes: 5), objects_at("a.rb", 1, "Order", allocated: 3),
                                 objects_at("a.rb", 1, nil, type: "T_IMEMO", allocated: 1))
        assert_equal(["", "Order", "T_IMEMO"], found[:class].map { |number| strings[number] })
        assert_equal [[5, 120, 40], [0, 3, 1]], found.values_at(:live_bytes, :live_blocks)
        refute columns(site("a.rb", 1)).first.key?(:class)
      end
    end

    class GrowthDataTest < Minitest::Test
      include Reports

      def test_the_log_in_words
        assert_equal ["3 processes", "2 hosts", "20 min 00 s", "2027-01-15 08:00 to 2027-01-15 08:20 UTC"],
                     GrowthData.new(growth).to_h[:facts]
      end

      def test_an_empty_log
        empty = GrowthData.new(GrowthDouble.new([], {}, [], nil)).to_h
        assert_equal({ facts: ["0 processes"], memory: [], series: [] }, empty)
      end

      def test_the_processes_memory
        found = GrowthData.new(growth).to_h[:memory]
        assert_equal ["RSS", "malloc live"], (found.map { |one| one[:name] })
        assert_equal 6_000_000, found.first[:slope]
        assert_equal [600, 55_000_000], found.first[:points][1]
      end

      def test_series_are_inert_and_their_slopes_are_numbers
        odd = series("/a\e.rb:1", slope_bytes_per_hour: 1.6, slope_low: -Float::INFINITY, slope_high: Float::NAN)
        found = GrowthData.new(growth(odd)).to_h[:series].first
        assert_equal ["/a\\x1B.rb:1", 2, nil, nil], found.values_at(:location, :slope, :slope_low, :slope_high)
      end
    end
  end
end
