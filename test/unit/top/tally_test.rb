# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "support/flight_builder"
require "support/scenes"
require "heapline/top/screen"
require "heapline/top/tally"

module Heapline
  module Top
    # What a Tally tells of flight files is what the Snapshots of the same files tell, row by row.
    class TallyTest < Minitest::Test
      include Scenes

      SORTS = Screen::Columns.keys(:sites)
      SHOWN = %i[allocations frees bytes_allocated live_bytes live_blocks retained_bytes age_max age_ms_sum
                 age_ms_max].freeze
      TOTALS = %i[live_bytes live_blocks growth_bytes retained_bytes allocations frees temporary].freeze
      GROUPS = %i[overview location gem file library tag].freeze
      PATTERNS = [nil, "MODEL", "b.rb:2", "é", "É.RB", "oj.so", "libxml", "(native code)", "rack", "shop#",
                  "parse+0x1", "jit", "(loading)", "\xff", "(no tag)", "zz"].freeze
      LIBRARY = "/usr/lib/x86_64-linux-gnu/libxml2.so.2"
      RACK = "/usr/lib/ruby/gems/3.1.0/gems/rack-3.0.8/lib/rack.rb"

      def setup
        @directory = Dir.mktmpdir
        @random = Random.new(7)
        @tally = Tally.new
        @times = 0
      end

      def teardown
        (@files || []).each(&:close)
        FileUtils.remove_entry(@directory)
      end

      # The sites of a builder: lines of several libraries and tags, evaluated twice, native code and names alone.
      def sites(builder, only)
        lines = Array.new(40) do |i|
          builder.ruby_site("/app/model#{i % 7}.rb", i % 5, label: "Model##{i % 3}", tag: ["shop##{i % 3}", nil][i % 2])
        end
        [LIBRARY, "/usr/lib/oj.so", nil].product(%w[B C], [23, 24]) do |library, label, line|
          lines << builder.ruby_site("b.rb", line, label: label, library: library)
        end
        lines << builder.ruby_site("/srv/é.rb", 3, tag: "Ünï") << builder.ruby_site("bad\xff.rb", 1)
        lines << builder.ruby_site(nil, 4) << builder.ruby_site(RACK, 1) << builder.native_site(nil, 0x77)
        lines << builder.native_site(LIBRARY, 0x1f30, symbol: "parse", symbol_offset: 0x12)
        lines << builder.ruby_site("/app/model1.rb", 2, label: "Kernel#require", loading: true, library: LIBRARY)
        lines << builder.ruby_site("/r/lib/ruby/3.1.0/rubygems/util.rb", 9, tag: "shop#1")
        lines << builder.ruby_site("ruby", 0)
        lines << builder.native_site("/usr/lib/libruby.so.3.1", 7) << builder.native_site("/usr/bin/ruby3.1", 8)
        lines << builder.special_site("(YJIT)", tag: "a") << builder.special_site("(YJIT)")
        [1, 2, *lines].select { only.call }
      end

      def count(builder, site, scale, baseline)
        made = @random.rand(1..50) * scale
        freed = @random.rand(0..made)
        figures = { allocations: made, bytes_allocated: made * 16, frees: freed, bytes_freed: freed * 16,
                    age_sum: freed * 3, age_ms_sum: freed * 7, temporary: freed / 2, age_max: @random.rand(9),
                    age_ms_max: 70 }
        builder.count(0, site, **figures)
        return unless baseline

        old = @random.rand(0..freed)
        kept = made - freed
        builder.base(0, site, allocations: kept, bytes_allocated: kept * 16, frees: 0, bytes_freed: 0)
        builder.old(0, site, frees: [old, kept].min, bytes_freed: [old, kept].min * 16)
      end

      # A flight file of a process; its path.
      def flight(pid, scale: 1, baseline: 0, only: -> { true })
        builder = FlightBuilder.new(pid: pid, baseline: baseline, baseline_kind: baseline.zero? ? 0 : 1, state: 4,
                                    started_ns: pid * 1_000_000_000)
        builder.lane(0, baseline: baseline)
        sites(builder, only).each { |site| count(builder, site, scale, baseline.positive?) }
        builder.write(File.join(@directory, "#{pid}-#{scale}"))
      end

      def tallied(paths, used: nil, **options)
        (@files ||= []).concat(files = paths.map { |path| File.open(path) })
        snapshots, totals = @tally.read(files.map { |file| [file, used] }, **options)
        Tally::Reading.new(@tally, totals, snapshots, at: (@times += 5), names: nil)
      end

      def plain(paths, at)
        Reading.new(paths.map { |path| Accounting::Flight.read(path) }, at: at)
      end

      def shown(activity, view)
        Screen::Rows.new(view, activity.rows(view.by, within: view.within)).all.map { |row| figures(row) }
      end

      def figures(row)
        site = row.site
        rates = Figures::SiteFigures::RATES.keys.map { |figure| row.rate(figure) }
        [row.name, row.location, row.tag, row.growth_bytes, *rates, row.temporary_share, row.mean_age,
         *SHOWN.map { |name| site[name] }]
      end

      def assert_same(one, other, views)
        views.each do |view|
          assert_equal shown(one, view), shown(other, view), view.to_h.slice(:by, :sort_key, :pattern, :within).inspect
        end
      end

      def views
        all = GROUPS.product(SORTS).map { |by, key| view(by: by, sort_key: key) }
        all += GROUPS.product(PATTERNS).map { |by, text| view(by: by, pattern: text) }
        all + [[:gem, "rack"], [:gem, nil], [:file, nil], [:tag, "shop#1"], [:library, "libxml2.so.2"]].map do |within|
          view(by: :location, within: within)
        end
      end

      def test_one_process
        paths = [flight(1)]
        assert_same Activity.new(plain(paths, 5)), Activity.new(tallied(paths)), views
      end

      def test_there_are_no_objects
        activity = Activity.new(tallied([flight(1)]))
        %i[class object].each { |by| assert_empty shown(activity, view(by: by)) }
      end

      # Of a first reading memory is given back before all is told.
      def test_many_lines
        builder = FlightBuilder.new(pid: 1, state: 4)
        builder.lane(0)
        9000.times { |i| count(builder, builder.ruby_site("/app/#{i / 100}.rb", i % 100), 1, false) }
        paths = [builder.write(File.join(@directory, "many"))]
        assert_same Activity.new(plain(paths, 5)), Activity.new(tallied(paths)), [view(by: :location), view(by: :file)]
      end

      def test_a_process_and_those_forked_from_it
        paths = [flight(1), flight(2, baseline: 1), flight(3, baseline: 2, only: -> { @random.rand < 0.4 })]
        assert_same Activity.new(plain(paths, 5)), Activity.new(tallied(paths)), views
      end

      def test_rates_since_an_earlier_reading
        before, after = [1, 5].map { |scale| [flight(1, scale: scale), flight(2, scale: scale, baseline: 1)] }
        earlier = tallied(before).tap(&:keep)
        now = Activity.new(tallied(after), earlier: earlier)
        expected = Activity.new(plain(after, 10), earlier: plain(before, 5))
        assert_same expected, now, views
        assert_equal expected.total.rate(:bytes_allocated), now.total.rate(:bytes_allocated)
      end

      def test_growth_since_the_watchers_baseline
        before, after = [1, 5].map { |scale| [flight(1, scale: scale), flight(2, scale: scale, baseline: 1)] }
        former = plain(before, 5)
        base = tallied(before, baseline: true)
        before.zip(after).each { |old, new| File.binwrite(old, File.binread(new)) } # the same files, which have grown
        later = [*before, flight(3, baseline: 1)]
        expected = Activity.new(plain(later, 10), baseline: former)
        now = Activity.new(tallied(later), baseline: base)
        assert_same(expected, now, views.select { |view| view.sort_key == :growth })
        assert_equal expected.total.growth_bytes, now.total.growth_bytes
        left = Activity.new(tallied(before.first(1)), baseline: base)
        assert_same Activity.new(plain(before.first(1), 15), baseline: former), left, [view]
        @tally.forget_baseline
        assert_same Activity.new(plain(later, 10)), Activity.new(tallied(later)), [view]
      end

      # A process goes on from reading to reading: some sites move, in either of its lanes, others and more lanes come,
      # and a baseline begins. Each time all is what one who reads the whole file sees.
      def test_only_what_changed_is_read_and_all_is_told
        [false, true].each do |forked|
          @tally = Tally.new
          builder = FlightBuilder.new(pid: 5, baseline: 1, baseline_kind: 1, state: 4, started_ns: 5)
          paths = [flight(1, scale: forked ? 2 : 3), builder.write(File.join(@directory, "moving-#{forked}"))]
          paths.reverse! unless forked
          6.times do |round|
            go_on(builder, round).write(paths[forked ? 1 : 0])
            assert_like_the_whole(paths)
          end
        end
      end

      def assert_like_the_whole(paths)
        expected = Activity.new(plain(paths, 5))
        found = Activity.new(tallied(paths))
        assert_same expected, found, [view, view(by: :tag, sort_key: :life), view(by: :gem, sort_key: :blocks)]
        one, other = [expected, found].map do |activity|
          TOTALS.to_h do |name|
            [name, activity.now.total.public_send(name)]
          end
        end
        assert_equal one, other
      end

      # Counters only grow.
      def go_on(builder, round)
        builder.lane(round % 3, baseline: 1) if round < 3
        (@moving ||= {}).clear if round.zero?
        added = Array.new(90) { |i| builder.ruby_site("/app/late#{round}.rb", i, tag: "round#{round}") }
        added.each { |site| @moving[[round % [3, round + 1].min, site]] = 0 }
        @moving.keys.sample(60, random: @random).each { |of| @moving[of] += @random.rand(1..9) }
        @moving.each do |(lane, site), made|
          builder.count(lane, site, allocations: made, bytes_allocated: made * 24, frees: made / 2,
                                    bytes_freed: made / 2 * 24, age_sum: made * 3, age_ms_sum: made * 5,
                                    temporary: made / 3, age_max: made, age_ms_max: made * 2)
        end
        builder
      end

      # Those that do nothing are read no more, and count as before; when one of them moves or goes all is right again.
      def test_processes_that_do_nothing
        paths = [flight(1), flight(2, baseline: 1), flight(3, baseline: 1)]
        expected = Activity.new(plain(paths, 5))
        8.times do
          assert_same expected, Activity.new(tallied(paths, used: 77)), [view, view(by: :tag, sort_key: :live)]
        end
        File.write(paths.last, "") # nobody looks
        assert_same expected, Activity.new(tallied(paths, used: 77)), [view]
        left = paths.first(2)
        2.times { assert_same Activity.new(plain(left, 5)), Activity.new(tallied(left, used: 77)), [view] }
        assert_raises(FlightError) { tallied(paths, used: 78) }
        assert_same Activity.new(plain(left, 5)), Activity.new(tallied(left, used: 79)), [view]
      end

      # On most file systems a new file may get the inode of one that was removed a moment ago.
      def test_a_file_that_is_another_processs
        paths = [flight(1, scale: 3), flight(2, baseline: 1)]
        tallied(paths, baseline: true)
        File.binwrite(paths.first, File.binread(flight(3, only: -> { @random.rand < 0.5 })))
        assert_same Activity.new(plain(paths, 5)), Activity.new(tallied(paths)), views
        assert_equal 0, tallied(paths.first(1)).base_live_bytes
      end

      def test_rows_of_a_reading_before_one_that_failed
        paths = [flight(1, scale: 3), flight(2)]
        rows = Activity.new(tallied(paths)).rows(:location).order(:live, nil)
        File.binwrite(paths.first, File.binread(flight(3, only: -> { @random.rand < 0.2 })))
        File.write(paths.last, "")
        assert_raises(FlightError) { tallied(paths) }
        assert_raises(RuntimeError) { rows.all }
        assert_same Activity.new(plain(paths.first(1), 5)), Activity.new(tallied(paths.first(1))), [view]
      end

      # Whenever there is no time any more: each time it is asked, from the first time on.
      def test_a_reading_that_is_put_off_changes_nothing
        3.times do |asked|
          @tally = Tally.new
          before, after = [1, 5].map { |scale| [flight(1, scale: scale), flight(2, scale: scale, baseline: 1)] }
          former = Activity.new(tallied(before))
          expected = shown(former, view)
          rows = former.rows(:location).order(:live, nil)
          before.zip(after).each { |old, new| File.binwrite(old, File.binread(new)) }
          files = before.map { |path| File.open(path) }
          next unless @tally.read(files.map { |file| [file, nil] }) { (asked -= 1).negative? }.nil?

          assert_equal expected, shown(former, view)
          assert_equal rows.size, rows.all.size
          assert_same Activity.new(plain(before, 5)), Activity.new(tallied(before)), [view]
          assert_raises(RuntimeError) { rows.place("x") }
        ensure
          files.each(&:close)
        end
      end

      def test_places_of_names_in_many_rows
        builder = FlightBuilder.new(state: 4)
        1200.times do |i|
          builder.count(0, builder.ruby_site("/app/#{i % 977}.rb", i), allocations: 1, bytes_allocated: 1 + (i % 7))
        end
        path = builder.write(File.join(@directory, "many"))
        order = Activity.new(tallied([path])).rows(:location).order(:growth, nil)
        rows = Activity.new(plain([path], 5)).rows(:location)
        names = rows.sort_by { |row| [-row.growth_bytes, row.name] }.map(&:name)
        assert_equal names.first(60), order.first(60).map(&:name)
        assert_equal([3, 700, nil, 1199], [names[3], names[700], "gone", names.last].map { |name| order.place(name) })
        assert_equal names[695, 10], order.part(695, 10).map(&:name)
        assert_equal([names.last, nil, nil], [order[1199], order[1200], order[-1]].map { |row| row&.name })
      end

      # Where no site is looked at, of any kind, and with a baseline or without.
      def test_totals_alone_are_those_of_all_sites
        [0, 1, 2].each do |baseline|
          path = flight(1, baseline: baseline)
          all, alone = [Accounting::Flight.read(path), Accounting::Flight.totals(path)].map do |snapshot|
            sums = Figures::SiteFigures::TOTALS.to_h { |name| [name, snapshot.public_send(name)] }
            [sums, snapshot.kinds.map(&:live_bytes), snapshot.quiet.live_bytes, snapshot.peak_bytes]
          end
          assert_equal all, alone
          assert_operator all[1].min, :>, 0
        end
      end

      # They would be zeros.
      def test_blocks_since_a_baseline_are_not_told
        totals = Native.tally_flight(Accounting::Flight.tally, flight(1), 1, false)[:totals]
        assert_equal TOTALS.sort, (totals.keys & (TOTALS + %i[growth_blocks retained_blocks])).sort
      end

      def test_what_is_no_group_and_no_order
        tallied([flight(1)])
        assert_raises(ArgumentError) { @tally.order(:colour, nil, :live, nil, nil, nil) }
        assert_raises(ArgumentError) { @tally.order(:gem, nil, :size, nil, nil, nil) }
        assert_raises(ArgumentError) { @tally.order(:location, [:location, "x"], :live, nil, nil, nil) }
      end
    end
  end
end
