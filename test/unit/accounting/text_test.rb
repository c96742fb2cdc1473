# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/object_snapshots"
require "heapline/accounting/text"
require "heapline/processes/memory_map"

module Heapline
  module Accounting
    class TextTest < Minitest::Test
      include ObjectSnapshots

      ENVIRONMENT = { "LANG" => "C.UTF-8" }.freeze
      GOLDEN = <<~TEXT
        heapline  ruby leak.rb · pid 4711 · 12.3 s · Ruby 3.4.11 · glibc 2.41

          RSS 118.30 MB = malloc live 52.22 MB · heapline's own 1.41 MB
            other 64.67 MB (object heap, code, stacks, freed but held)
          allocated 104.00 MB in 191,004 calls · peak 142.60 MB at 8.1 s · 42 % temporary · 7 GCs

           growth▼      live  blocks   allocs   frees  life GCs  location
          51.20 MB  51.20 MB  50,000  100,000  50,000       2.0  leak.rb:12  Object#leak_memory
           1.02 MB   1.02 MB   8,211   91,004  82,793       0.4  lib/cache.rb:88  Cache#put   via libxml2.so.2
          2 sites, 2 shown

          next  heapline help   what else?
      TEXT

      def render(snapshot, env: ENVIRONMENT, **options)
        io = StringIO.new
        Text.new(env: env, directory: "/app", **options).render(snapshot, io)
        io.string
      end

      def test_the_whole_report
        memory = Processes::ProcessMemory.new(rss_bytes: 118_300_000)
        assert_equal GOLDEN, render(leaky, env: ENVIRONMENT.merge("COLUMNS" => "110"), memory: memory,
                                           more: [["heapline help", "what else?"]])
      end

      def test_without_the_command
        assert_equal "heapline  pid 4711 · 12.3 s · Ruby 3.4.11 · glibc 2.41\n",
                     render(leaky.with(command: nil)).lines.first
      end

      def test_fits_the_width
        [60, 80, 100, 200].each do |width|
          lines = render(leaky, env: ENVIRONMENT.merge("COLUMNS" => width.to_s)).lines.map(&:chomp)
          assert_empty lines.select { |line| line.length > width }, "at width #{width}"
        end
        assert_includes render(leaky, env: ENVIRONMENT.merge("COLUMNS" => "60")), "leak.rb:12"
      end

      def test_long_paths_lose_their_beginning
        site = snapshot(site("/srv/#{"very_long/" * 20}file.rb", 7, live_bytes: 1))
        assert_match(%r{…\S*very_long/file\.rb:7$}, render(site))
      end

      def test_ascii_where_the_locale_is_not_utf8
        text = render(leaky, env: { "LANG" => "C" })
        assert text.ascii_only?
        assert_includes text, "growthv"
      end

      def test_sorting_marks_and_adds_its_column
        text = render(leaky, sort: :retained)
        assert_match(/growth +retained▼ +live/, text)
        assert_match(/frees▼/, render(leaky, sort: :frees))
        assert_operator render(leaky, sort: :frees).index("cache.rb"), :<,
                        render(leaky, sort: :frees).index("leak.rb:12")
      end

      def test_top_and_min
        assert_match(/2 sites, 1 shown; all: --top 0/, render(leaky, top: 1))
        assert_match(/1 site, 1 shown$/, render(leaky, min: 2_000_000))
      end

      def test_rows_that_did_not_grow_give_way_to_those_that_did
        both = snapshot(site("a.rb", 1, live_bytes: 5, growth_bytes: 5),
                        site("b.rb", 1, live_bytes: 5, growth_bytes: 0))
        refute_includes render(both), "b.rb"
        assert_includes render(both, top: 0), "b.rb"
      end

      def test_by_gem
        assert_match(/52.22 MB .* \(application\)\n  1 group by gem/, render(leaky, by: :gem))
      end

      def test_hostile_names_are_inert
        name = "\e[31m\u202Eevil\n\0\xff.rb"
        text = render(snapshot(site(name, 1, live_bytes: 9, label: "\a\e]0;x\a"), command: ["ru\e[2Jby", "a\nb"]),
                      env: ENVIRONMENT.merge("COLUMNS" => "160"))
        refute_match(/[\e\a\0\u202E]/, text)
        assert_includes text, "\\x1B[31m\\u{202E}evil\\x0A\\x00\\xFF.rb:1"
        assert_includes text, "ru\\x1B[2Jby a\\x0Ab"
      end

      def test_failures_and_states_are_said
        text = render(leaky.with(failures: { counts_lost: 1234 }, state: :killed, ended_at: nil))
        assert_match(/note  1,234 frees found no counter/, text)
        assert_match(/killed \(it did not end in an orderly way\)/, text)
        assert_match(/RSS no longer known/, text)
      end

      def test_growth_since_a_baseline
        text = render(leaky.with(baseline_kind: :fork, forked_from: 12))
        assert_match(/since the fork from 12: growth 52.22 MB/, text)
      end

      def test_live_beyond_rss_is_said
        assert_match(/of these 43.63 MB not resident/,
                     render(leaky, memory: Processes::ProcessMemory.new(rss_bytes: 10_000_000)))
      end

      def rows_of(*parts, **options)
        sites = parts.map { |library, bytes| site("a.rb", 1, library: library, live_bytes: bytes, growth_bytes: bytes) }
        render(snapshot(*sites), **options).lines(chomp: true).grep(/a\.rb:1|\.so/).map(&:strip)
      end

      # With the library that most of it came through, where there is one.
      def test_a_line_is_one_row_whatever_library_called_malloc
        assert_equal(["60.00 kB 60.00 kB 0 0 0 - a.rb:1 via oj.so"],
                     rows_of([nil, 20_000], ["oj.so", 40_000]).map { |row| row.squeeze(" ") })
        mixed = [rows_of([nil, 40_000], ["oj.so", 20_000]),
                 rows_of([nil, 20_000], ["oj.so", 21_000], ["z.so", 20_000])]
        assert_equal([1, 1], mixed.map(&:size))
        refute_includes mixed.join, "via"
      end

      def test_no_allocation_at_all
        assert_includes render(snapshot), "no allocation was counted"
      end

      def test_colour_only_on_a_terminal
        terminal = StringIO.new
        def terminal.tty? = true
        Text.new(env: ENVIRONMENT.merge("COLUMNS" => "100")).render(leaky, terminal)
        assert_includes terminal.string, "\e["
        terminal.truncate(0)
        Text.new(env: ENVIRONMENT.merge("COLUMNS" => "100", "NO_COLOR" => "1")).render(leaky, terminal)
        refute_includes terminal.string, "\e["
        refute_includes render(leaky), "\e["
      end

      def test_ruby_objects_are_a_second_table
        text = render(leaky_objects)
        assert_match(/objects  location\n.* 100,000  .*leak.rb:12.*\n  2 sites.*\n\n  objects  live 108,221 /m, text)
        refute_match(/objects  /, render(leaky))
        refute_match(/objects  /, render(leaky_objects, by: :library))
        refute_match(/blocks/, render(leaky_objects, objects: true))
        refute_match(/malloc  /, render(leaky_objects, by: :class))
      end
    end
  end
end
