# frozen_string_literal: true

require "test_helper"
require "heapline/processes/ledger"
require "support/scenes"

module Heapline
  module Top
    class Screen
      class HeaderTest < Minitest::Test
        include Scenes

        def header(seen, view: self.view, width: 150, limit: 4)
          Header.new(view, Scene.new(watch: seen), terminal(width)).lines(limit).join("\n")
        end

        def test_the_process_and_its_memory
          text = header(shop_scene(view).watch)
          assert_match(/pid 4711 · 09:00:10 · up 1 h 00 min · ruby leak.rb · Ruby 3.4.11 · glibc 2.41$/, text)
          assert_match(%r{^RSS 100.00 MB ▁▅█ · live 46.02 MB ▁▅█ · \+500.00 kB/s · other 53.98 MB$}, text)
        end

        def test_before_there_are_rates
          assert_match(/rates come with the next reading/, header(watch(reading(*shop(0)))))
        end

        def test_forked_processes_and_what_became_of_it
          worker = snapshot(pid: 4712, state: :running, baseline_kind: :fork, forked_from: 4711)
          assert_match(/pid 4711 and 1 forked/, header(watch(reading(*shop(0), others: [worker]))))
          based = [worker.with(baseline_kind: :clear)]
          assert_match(/since each one's baseline, fork or start/, header(watch(reading(*shop(0), others: based))))
          assert_match(/ · stopped · /, header(watch(reading(*shop(0), stopped: true))))
          assert_match(/ · paused · /, header(watch(reading(*shop(0))), view: view(paused: true)))
          dead = Reading.new([reading(*shop(0)).root.with(state: :killed)], at: 0)
          assert_match(/ · killed · /, header(watch(dead)))
        end

        def test_what_has_ended_has_no_rates
          dead = Reading.new([reading(*shop(5)).root.with(state: :exited)], at: 5)
          text = header(watch(reading(*shop(0)), dead))
          assert_match(/ · exited · .*\nlive 43.52 MB ▁█\ngrowth 43.52 MB since the start · [\d,]+ GCs$/, text)
          refute_match(%r{/s|RSS|rates come}, header(watch(dead)))
        end

        def test_what_was_survived
          text = header(watch(reading(*shop(0), failures: { sites_refused: 12_345, counts_lost: 2 })))
          assert_match(/^growth .* · sites refused 12,345 · counts lost 2 · /, text)
        end

        def test_since_when_growth_counts
          seen = watch(reading(*shop(0)), reading(*shop(10), at: 10))
          seen.baseline = seen.now
          assert_match(/growth 0 B since your baseline at 09:00:10/, header(seen))
          assert_match(/since the fork/, header(watch(reading(*shop(0), baseline_kind: :fork))))
          assert_match(/since the baseline/, header(watch(reading(*shop(0), baseline_kind: :clear))))
          late = reading(*shop(0)).root.with(older: Accounting::OlderMemory.new(after: 1.0))
          assert_match(/since counting began · /, header(watch(Reading.new([late], at: 0))))
        end

        # A ledger whose lines are these.
        Ledger = Struct.new(:rss_bytes, :lines, :figures)

        def test_what_rss_is_made_of
          lines = { malloc_ruby: 46_000_000, code: 30_000_000, stacks: 100 }.map do |key, bytes|
            Processes::Ledger::Line.new(key: key, bytes: bytes)
          end
          root = reading(*shop(0)).root
          now = Reading.new([root], at: 0, rss_bytes: 76_000_100, ledger: Ledger.new(76_000_100, lines))
          assert_match(/\n= malloc by Ruby lines 46.00 MB · programs and libraries 30.00 MB · rest 100 B\ngrowth/,
                       header(watch(now)))
          refute_match(/other|^=/, header(watch(now), limit: 2))
        end

        def test_live_beyond_rss
          assert_match(/40.02 MB not resident/, header(watch(reading(*shop(0), rss: 1_003_700))))
        end

        def test_memory_stays_where_there_is_one_line
          assert_match(/\ARSS 100.00 MB[^\n]*\z/, header(shop_scene(view).watch, limit: 1))
          assert_match(/\ARSS [^\n]*\ngrowth [^\n]*\z/, header(shop_scene(view).watch, limit: 2))
        end

        def test_all_processes_together
          text = Header.new(view(page: :processes), fleet_scene, terminal(100)).lines(4)
          assert_equal ["heapline top · 2 processes", "RSS 120.00 MB · live 143.05 MB · growth 143.05 MB", ""], text
        end
      end
    end
  end
end
