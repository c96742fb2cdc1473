# frozen_string_literal: true

require "test_helper"
require "stringio"
require "zlib"
require "support/growth_logs"

module Heapline
  class GrowthReaderTest < Minitest::Test
    include GrowthLogs

    def lines(numbers, **more)
      numbers.map { |i| log_line(i, { "a.rb:1" => i * 100_000 }, **more) }
    end

    def in_files(texts)
      in_directory do |directory|
        paths = texts.map { |name, text| File.join(directory, name).tap { |path| File.binwrite(path, text) } }
        yield directory, paths
      end
    end

    def counts(text, **options)
      growth_of(text, **options).counts.select { |_, count| count.positive? }
    end

    def test_damaged_torn_and_foreign_lines_are_counted_and_nothing_else_is_lost
      good = lines(0..9).map { |line| JSON.generate(line) }
      torn = JSON.generate(log_line(10, { "a.rb:1" => 1 }))[0, 150]
      text = log_text(*good, "{\"schema\":\"other/1\",\"time\":1}", "GET / 200", "", "\x00\xff{",
                      torn + JSON.generate(log_line(11, { "a.rb:1" => 1 })),
                      JSON.generate(log_line(12, {})).sub("09:12", "broken")) + torn
      assert_equal({ lines: 16, taken: 11, damaged: 3, foreign: 3 }, counts(text))
      assert_equal 11, growth_of(text).processes[0].lines
    end

    def test_a_loggers_prefix
      text = lines(0..3).map { |line| "I, [2026-03-01T09:00:00.1 #1]  INFO -- {x}: #{JSON.generate(line)}\n" }.join
      assert_equal({ lines: 4, taken: 4 }, counts(text))
    end

    def test_generations_beyond_32_bits
      verdicts = [0, 1].map do |gcs|
        log = lines(0..29).each_with_index { |line, i| line[:generation] = (2**32) + (gcs * i) }
        growth_of(log_text(*log)).series[0].verdict
      end
      assert_equal %i[unsure leak], verdicts
    end

    def test_any_json_with_these_keys
      line = log_line(0, {}).to_a.reverse.to_h
      name = "caf\u00e9\"\\\n.rb:1"
      line[:sites] = [{ "unknown" => [{ "a" => [1, nil, true] }], live_bytes: 1.5e3, "location" => name }]
      text = JSON.generate(line, ascii_only: true, space: " ", object_nl: "", array_nl: " ").sub('"pid"', '"\u0070id"')
      series = growth_of(text).series
      assert_equal([[name, 1500]], series.map { |one| [one.location, one.live_bytes] })
    end

    def test_repeated_lines_count_once
      text = log_text(*lines(0..9))
      assert_equal({ lines: 20, taken: 10, repeated: 10 }, counts(text + text))
    end

    def test_a_clock_that_is_set
      moved = lines(0..29).each_with_index do |line, i|
        line[:time] = log_time(i - 600) if i >= 10
        line[:time] = log_time(i + 90_000) if i >= 20
      end
      growth = growth_of(log_text(*moved))
      assert_equal [30, 2], [growth.counts[:taken], growth.counts[:clock_jumps]]
      assert_in_delta 29 * 60, growth.duration, 1
      assert_in_delta 6_000_000, growth.series[0].slope_bytes_per_hour, 1
    end

    def test_gaps
      growth = growth_of(log_text(*lines([*0..9, *20..29], dropped_lines: 2)))
      assert_equal [1, 40], [growth.processes[0].gaps, growth.processes[0].dropped_lines]
      assert_in_delta 6_000_000, growth.series[0].slope_bytes_per_hour, 1
    end

    # What it held before is what it held one line before: its first line says so.
    def test_a_site_that_is_listed_late_in_a_log_of_the_first_version
      quiet = Array.new(10) { |i| log_line(i, {}, schema: "heapline-growth/1") }
      import = (10..29).map do |i|
        sites = [log_site("a.rb:1", 5_000_000, delta_bytes: i == 10 ? 4_900_000 : 0)]
        log_line(i, sites, schema: "heapline-growth/1")
      end
      series = growth_of(log_text(*quiet, *import)).series[0]
      assert_equal [:bloat, 4_900_000, [0.0, 100_000]], [series.verdict, series.growth_bytes, series.points.first]
    end

    # Its process was there: the GCs are those that the process had, and what it allocated came since the start, not
    # since the log's first line.
    def test_a_site_that_is_listed_late_has_the_counts_of_the_time_before
      quiet = (60..69).map { |i| log_line(i, {}, started_at: log_time(0)) }
      listed = (70..79).map do |i|
        log_line(i, [log_site("a.rb:1", 5_000_000, delta_bytes: 0)], started_at: log_time(0),
                                                                     schema: "heapline-growth/1")
      end
      store = Native::GrowthStore.new(:site, 100, nil, []).feed(log_text(*quiet, *listed))
      windows = series_of(store, "a.rb:1")[:windows]
      assert_equal([70.0, 79.0, 80.0, 89.0], windows.values_at(0, 7, 8, 17).map { |window| window[5] })
      assert_in_delta 5_000_000 * 60 / 70, windows.first[4], 1
      assert_in_delta 5_000_000 * 69 / 70, windows[7][4], 1
    end

    # heapline was upgraded while the log went on.
    def test_a_log_that_changes_its_version
      older = Array.new(15) { |i| log_line(i, { "a.rb:1" => 1_000_000 + (i * 100_000) }, schema: "heapline-growth/1") }
      newer = (15..29).map { |i| log_line(i, { "a.rb:1" => 1_000_000 + (i * 100_000) }) }
      growth = growth_of(log_text(*older, *newer))
      assert_equal [30, 0, :leak], [*growth.counts.values_at(:taken, :other_version), growth.series[0].verdict]
      assert_in_delta 6_000_000, growth.series[0].slope_bytes_per_hour, 1
    end

    # Lines of which the first ten do not list "b.rb:2" of gem "x", which grew all the time; the eleventh tells.
    def told_late(gem: nil)
      lines = (0..19).map do |i|
        log_line(i, [log_site("a.rb:1", 7000, gem: gem), *([late_site(i, gem)] if i >= 10)])
      end
      lines[10][:sites][1][:earlier] = (0..9).map { |i| [(10 - i) * 60.0, i * 100_000, i * 200_000, 10 + i] }
      lines
    end

    def late_site(minute, gem)
      log_site("b.rb:2", minute * 100_000, gem: gem, bytes_allocated: minute * 200_000)
    end

    def windows(text, by: :site, since: nil, name: :location, of: "b.rb:2")
      store = Native::GrowthStore.new(by, 100, since, []).feed(text)
      found = series_of(store, of, name)[:windows]
      found.map { |ms, low, last_ms, *figures| [(ms - (START.to_f * 1000)) / 60_000, low, last_ms - ms, *figures] }
    end

    def test_a_site_that_is_listed_late_was_what_its_first_line_tells
      expected = (0..19).map { |i| [i, i * 100_000, 0, i * 100_000, i * 200_000, 10 + i] }
      assert_equal expected, windows(log_text(*told_late))
      assert_equal expected.drop(5), windows(log_text(*told_late), since: (START.to_f + 300) * 1000)
      assert_equal :leak, growth_of(log_text(*told_late)).series.find { |one| one.location == "b.rb:2" }.verdict
    end

    # The others of its group were listed then.
    def test_a_site_that_joins_a_group_late_was_there_before
      found = windows(log_text(*told_late(gem: "x")), by: :gem, name: :gem, of: "x")
      lives = (0..19).map { |i| 7000 + (i * 100_000) }
      assert_equal((0..19).zip(lives, [0] * 20, lives), found.map { |one| one.first(4) })
      alone = told_late(gem: "x").each_with_index { |line, i| line[:sites].shift if i < 10 }
      found = windows(log_text(*alone), by: :gem, name: :gem, of: "x")
      assert_equal(lives.last(10), found.last(10).map { |one| one[1] })
    end

    # Two sites of one line, through two libraries, and one of native code.
    def test_a_line_is_one_series_whichever_libraries_called_malloc
      found = [0.3, 0.5, 0.7].map do |part|
        lines = (0..19).map { |i| log_line(i, through(i * 100_000, part)) }
        growth = growth_of(log_text(*lines))
        assert_equal 1_900_000, growth_of(log_text(*lines), by: :library).series.sum(&:live_bytes) - 5
        growth.series.map { |one| [one.location, one.library, one.live_bytes, one.verdict] }
      end
      native = ["z.so+0x1", "z.so", 5, :steady]
      assert_equal(["a.so", nil, "oj.so"].map { |via| [["a.rb:1", via, 1_900_000, :leak], native] }, found)
    end

    def through(bytes, part)
      [log_site("a.rb:1", (bytes * (1 - part)).round, library: "a.so"),
       log_site("a.rb:1", (bytes * part).round, library: "oj.so"),
       log_site("z.so+0x1", 5, library: "z.so", kind: "native")]
    end

    def test_an_earlier_life_that_is_damaged
      [[], [[]], [[1, 2]], [nil], 5, "x", [[60, 1, 1, 1, 1]] * 3, [["a", 1, 1, 1]], [[-60, 1, 1, 1]], [[1e17, 1, 1, 1]]]
        .each do |earlier|
        lines = told_late
        lines[10][:sites][1][:earlier] = earlier
        found = windows(log_text(*lines)).map(&:first)
        assert_equal found.uniq.sort, found, earlier.inspect
        assert_operator found.size, :>=, 10
      end
    end

    def test_a_pid_is_used_again
      growth = growth_of(log_text(*lines(0..9), *lines(20..29, started_at: log_time(20))))
      assert_equal 2, growth.processes.size
    end

    def test_exec_is_another_program
      first = lines(10..19)
      second = lines(20..29).each_with_index do |line, i|
        line.merge!(seq: i, totals: { live_bytes: 1, bytes_allocated: i })
      end
      assert_equal [10, 10], growth_of(log_text(*first, *second)).processes.map(&:lines)
    end

    def test_a_logger_that_begins_anew_goes_on
      second = lines(20..29).each_with_index { |line, i| line[:seq] = i }
      assert_equal [20], growth_of(log_text(*lines(0..9), *second)).processes.map(&:lines)
    end

    def test_rotated_compressed_and_directories
      texts = { "a.jsonl" => log_text(*lines(20..29)), "a.jsonl.1" => log_text(*lines(10..19)),
                "a.jsonl.2.gz" => Zlib.gzip(log_text(*lines(0..4))) + Zlib.gzip(log_text(*lines(5..9))),
                "notes.txt" => "x" }
      in_files(texts) do |directory, paths|
        [[directory], paths.first(3), [File.join(directory, "a.*")], [directory, *paths.first(3)]].each do |names|
          growth = GrowthReader.new(names).read
          assert_equal({ lines: 30, taken: 30 }, growth.counts.select { |_, count| count.positive? }, names.inspect)
          assert_equal 0, growth.processes[0].gaps
        end
      end
    end

    def test_a_compressed_file_that_was_cut_short
      whole = Zlib.gzip(log_text(*lines(0..2000)))
      in_files("a.jsonl.gz" => whole[0, whole.size / 2]) do |_, paths|
        reader = GrowthReader.new(paths)
        assert_operator reader.read.counts[:taken], :>, 0
        assert_match(/a.jsonl.gz is cut short: .*what comes before it was read/, reader.problems[0])
      end
    end

    def test_since_and_pid
      text = log_text(*lines(0..9), *lines(0..9, pid: 5))
      assert_equal [10, 10], counts(text, pids: [5]).values_at(:taken, :filtered)
      assert_equal [10, 10], counts(text, since: START + (5 * 60)).values_at(:taken, :filtered)
    end

    def test_a_duration_counts_from_the_last_line
      text = log_text(*lines(0..9))
      in_files("a.jsonl" => text, "b.jsonl.gz" => Zlib.gzip(log_text(*lines(0..19, pid: 5)))) do |_, paths|
        assert_equal 6, GrowthReader.new(paths, since: 300).read.counts[:taken]
        assert_equal 6, GrowthReader.new(paths.first(1), since: 300).read.counts[:taken]
      end
      assert_match(/give --since a time/, assert_raises(UsageError) { growth_of(text, since: 300) }.message)
    end

    def test_memory_is_bounded
      replacing_limit(40) do
        sites = ->(i) { Array.new(30) { |s| log_site("s#{i % 30}-#{s}.rb:1", s * 10) } }
        growth = growth_of(log_text(*Array.new(60) { |i| log_line(i, sites.call(i)) }))
        assert_equal [39, 900 - 39], [growth.series.size, growth.counts[:series_given_up]]
      end
    end

    # Each line of the log lists more series than are kept, again and again.
    def test_what_is_kept_is_whole
      replacing_limit(40) do
        lines = (0..19).to_a.product((1..30).to_a).map do |i, pid|
          log_line(i, leaking(i), pid: pid, rss_bytes: i * 1_000_000)
        end
        growth = growth_of(log_text(*lines))
        assert_equal([[:leak, 10], [:steady, 10]], growth.series.map { |one| [one.verdict, one.processes] })
        assert_in_delta 6_000_000, growth.series[0].slope_bytes_per_hour, 1
        assert_equal [30, 30], growth.memory.values_at("rss", "malloc_live").map(&:processes)
        assert_in_delta 60_000_000, growth.memory["rss"].slope_bytes_per_hour, 1
        assert_equal 40, growth.counts[:series_given_up]
      end
    end

    def leaking(minute)
      { "leak.rb:1" => 1_000_000 + (minute * 100_000), "base.rb:2" => 5000 }
    end

    def test_many_long_series_have_fewer_windows
      store = Native::GrowthStore.new(:site, 4, nil, [])
      store.feed(log_text(*Array.new(500) { |i| log_line(i, { "a.rb:1" => i, "b.rb:1" => i, "c.rb:1" => i }) }))
      series_of(store, "a.rb:1")[:windows].then do |windows|
        assert_includes 17..32, windows.size
        assert_equal [0, 499], [windows.first[1], windows.last[3]]
      end
    end

    def test_long_lives_keep_the_lowest
      lines = Array.new(1000) { |i| log_line(i, { "a.rb:1" => (i % 4).zero? ? i * 1000 : 9_000_000 }) }
      text = log_text(*lines)
      store = Native::GrowthStore.new(:site, 100, nil, []).feed(text)
      series = series_of(store, "a.rb:1")
      assert_operator series[:windows].size, :<=, 128
      assert_operator series[:windows].size, :>=, 62
      lows = series[:windows].map { |window| window[1] }
      assert_equal lows.sort, lows
    end

    def test_what_is_not_there
      in_directory do |directory|
        assert_match(/no such file/, assert_raises(Error) { GrowthReader.new(["#{directory}/x*"]) }.message)
        assert_match(/no file in this directory/, assert_raises(Error) { GrowthReader.new([directory]) }.message)
      end
    end

    def test_files_of_many_chunks
      text = Array.new(40) { |i| leaking_log(pid: i).lines }.flatten.join
      text *= 1 + (3 * Input::CHUNK / text.size)
      in_files("a.jsonl" => text, "b.jsonl.gz" => Zlib.gzip(text)) do |_, paths|
        paths.each { |path| assert_equal text.count("\n"), GrowthReader.new([path]).read.counts[:lines] }
      end
    end

    def test_progress
      seen = []
      in_files("a.jsonl" => log_text(*lines(0..9))) do |_, paths|
        GrowthReader.new(paths, progress: ->(done, total) { seen << [done, total] }).read
        assert_equal [[File.size(paths[0])] * 2], seen
      end
    end

    def test_the_store_refuses_nonsense
      [[:nothing, 10, nil, []], [:site, 1, nil, []], ["site", 10, nil, []], [:site, 10, nil, nil],
       [:site, 10, "x", []]].each do |words|
        assert_raises(ArgumentError, TypeError) { Native::GrowthStore.new(*words) }
      end
      assert_raises(ArgumentError) { Native::GrowthStore.allocate.feed("") }
      assert_raises(TypeError) { Native::GrowthStore.new(:site, 10, nil, []).feed(nil) }
    end

    private

    def series_of(store, value, name = :location)
      store.series(store.sites.find { |names, _| names[name] == value }.last.first)
    end

    def replacing_limit(limit)
      former = GrowthReader::SERIES_MAX
      without_warnings { GrowthReader.const_set(:SERIES_MAX, limit) }
      yield
    ensure
      without_warnings { GrowthReader.const_set(:SERIES_MAX, former) }
    end
  end
end
