# frozen_string_literal: true

require "test_helper"
require "support/answers"

# Scripts written for mwrap, run as users run them: `heapline --mwrap ruby script.rb`. What is expected was seen of
# mwrap 2.3.0 on Ruby 3.1; docs/mwrap.md says where heapline differs on purpose.
class MwrapIntegrationTest < Minitest::Test
  include Answers

  # Blocks that the VM may free of its own at a line, whose program frees none.
  VMS_OWN = (0..3)

  TAKE = <<~RUBY
    require "mwrap"; require "fiddle"
    blocks = Array.new(10)
    10.times { |i| blocks[i] = Fiddle.malloc(1000) } # line 4
    here = "\#{__FILE__}:4"
  RUBY

  def test_a_source_location_is_live
    found = mwrap(<<~RUBY)
      #{TAKE}
      at = Mwrap[here]
      answer name: at.name == here, total: at.total, allocations: at.allocations, frees: at.frees,
             mean: at.mean_lifespan.infinite?, max: at.max_lifespan
      2.times { GC.start }
      5.times { |i| Fiddle.free(blocks[i]) }
      answer later: [at.frees, at.mean_lifespan.class.name, at.mean_lifespan >= 1, at.max_lifespan >= 2]
    RUBY
    assert found[:name]
    assert_includes VMS_OWN, found[:frees]
    assert_equal [1, 0], found.values_at(:mean, :max) if found[:frees].zero?
    assert_operator found[:total], :>=, 10_000
    assert_operator found[:allocations], :>=, 10
    assert_equal ["Float", true, true], found[:later].drop(1)
    assert_includes VMS_OWN, found[:later].first - 5
  end

  def test_a_source_location_lists_its_live_blocks
    found = mwrap(<<~RUBY)
      #{TAKE}
      GC.start
      at = Mwrap[here]
      seen = []
      answer itself: at.equal?(at.each { |size, generation| seen << [size, generation] })
      mine = seen.select { |size,| size == 1000 }
      answer blocks: mine.size, ages: mine.all? { |_, generation| generation < GC.count }
      5.times { |i| Fiddle.free(blocks[i]) }
      answer left: at.each.count { |size,| size == 1000 }
      Mwrap.clear
      GC.disable
      kept = Fiddle.malloc(1000); there = Mwrap["\#{__FILE__}:\#{__LINE__}"]
      answer since: there.each.to_a.assoc(1000).last == GC.count, before: at.each.count { |size,| size == 1000 }
      require "mwrap_rack"
      page = MwrapRack.new.call("REQUEST_METHOD" => "GET", "PATH_INFO" => "/at/" + there.name, "QUERY_STRING" => "")
      answer page: page.last.join.match?(%r{<td>1000</td><td>\\d+</td><td>0x\\h+</td>})
    RUBY
    assert_equal({ itself: true, blocks: 10, ages: true, left: 5, since: true, before: 5, page: true }, found)
  end

  def test_each_leaves_out_totals_up_to_the_minimum
    found = mwrap(<<~RUBY)
      #{TAKE}
      rows = []
      value = Mwrap.each { |*row| rows << row }
      row = rows.find { |location,| location == here }
      answer value: value, row: row, unique: rows.map(&:first).uniq.size == rows.size
      seen = ->(min) { found = false; Mwrap.each(min) { |location,| found ||= location == here }; found }
      answer at: seen[row[1]], below: seen[row[1] - 1]
    RUBY
    assert_equal [nil, true, false, true], found.values_at(:value, :unique, :at, :below)
    assert_equal 6, found[:row].size
    assert_includes VMS_OWN, found[:row][3]
  end

  def test_reset_begins_again_and_frees_stay_below_allocations
    found = mwrap(<<~RUBY)
      #{TAKE}
      at = Mwrap[here]
      answer reset: Mwrap.reset, clear: Mwrap.clear
      10.times { |i| Fiddle.free(blocks[i]) }
      answer after: [at.total, at.allocations, at.frees], found: Mwrap[here]&.total.to_i,
             impossible: Mwrap.to_enum(:each).count { |*row| row[3] > row[2] }
    RUBY
    assert_equal [nil, nil, [0, 0, 0], 0, 0], found.values_at(:reset, :clear, :after, :found, :impossible)
  end

  def test_quiet_yields_its_depth
    found = mwrap('require "mwrap"; answer depths: Mwrap.quiet { |a| Mwrap.quiet { |b| [a, b] } }')
    assert_equal [1, 2], found[:depths]
  end

  def test_the_rack_application
    found = mwrap(<<~RUBY)
      #{TAKE}
      require "mwrap_rack"
      app = MwrapRack.new
      get = ->(path, query = "") { app.call("REQUEST_METHOD" => "GET", "PATH_INFO" => path, "QUERY_STRING" => query) }
      status, _, body = get["/each/9000", "sort=allocations"]
      answer each: status, row: body.join[%r{<tr>.*?/at/[^"]*program\\.rb:4">.*}].to_s.scan(/<td>(\\d+)/).flatten.first(3)
      answer small: get["/each/99999999"].last.join.include?("program.rb:4"), at: get["/at/" + here].first
    RUBY
    total, allocations, frees = found[:row].map(&:to_i)
    assert_equal [200, false, 200], found.values_at(:each, :small, :at)
    assert_includes VMS_OWN, frees
    assert_operator total, :>=, 10_000
    assert_operator allocations, :>=, 10
  end

  # Ruby 4.1 puts a plain object into 32 bytes, and keeps some hundred pages that are empty.
  def test_pages_of_the_object_heap
    found = mwrap(<<~RUBY)
      require "mwrap"
      20.times do
        Thread.new { Array.new(1_000_000) { Object.new }.size }.join # no stack has it any more
        4.times { GC.start }
        break if Mwrap::HeapPageBody.stat[:resurrects] > 10
      end
      GC.disable
      counts = [GC.stat(:heap_allocated_pages), GC.stat(:total_freed_pages)]
      stat = Mwrap::HeapPageBody.stat.transform_values { |value| value unless value == Float::INFINITY }
      rows = []
      number = Mwrap::HeapPageBody.each { |address, generation| rows << [address, generation] }
      size = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE)
      answer number: [number, rows.size, rows.map(&:first).uniq.size], pages: counts.first,
             aligned: rows.all? { |address, _| (address % size).zero? }, count: GC.count,
             generations: rows.map(&:last).minmax, stat: stat, freed: counts.last
    RUBY
    assert_equal [found[:number].first], found[:number].uniq
    assert_in_delta found[:pages], found[:number].first, 5
    assert found[:aligned]
    first, last = found[:generations]
    assert_operator 0..found[:count], :cover?, first..last
    assert_page_statistics(found[:stat], found[:freed])
  end

  def assert_page_statistics(stat, freed)
    assert_equal %i[lifespan_max lifespan_min lifespan_mean lifespan_stddev deathspan_max deathspan_min deathspan_mean
                    deathspan_stddev resurrects], stat.keys
    assert_operator freed, :>, 10
    assert_operator 1..freed, :cover?, stat[:resurrects]
    %w[lifespan deathspan].each do |name|
      max, min, mean, stddev = %w[max min mean stddev].map { |part| stat[:"#{name}_#{part}"] }
      assert_operator min..max, :cover?, mean
      assert_operator stddev, :>=, 0
    end
  end

  def test_the_environment_variable_dumps_at_the_end
    path = File.join(new_directory, "log")
    2.times { mwrap(TAKE, MWRAP: "dump_path:#{path},dump_min:5000") }
    lines = File.readlines(path)
    assert_equal 2, lines.grep(/\A +1\d{4} +\d\d \S+program\.rb:4\n\z/).size, lines.join
    assert(lines.all? { |line| line.match?(/\A *\d+ +\d+ \S.*\n\z/) && line.to_i > 5000 })
  end

  def test_a_dump_needs_no_require
    run = mwrap_run("GC.disable; kept = Array.new(1000) { |i| \"x\" * 1000 }", MWRAP: "dump_fd:2,dump_min:50000")
    assert_match(/^ +1\d{6} +1\d{3} \S+program\.rb:\d+$/, run.error)
  end

  def test_the_environment_variable_dumps_to_a_descriptor
    run = mwrap_run(TAKE, MWRAP: "dump_fd:2,dump_min:5000")
    assert_match(/^ +1\d{4} +\d\d \S+program\.rb:4$/, run.error)
  end

  def test_the_dump_has_what_is_asked_for_of_the_heap
    path = File.join(new_directory, "log")
    only, all = [5, 3].map do |mask|
      mwrap_run("GC.start", MWRAP: "dump_path:#{path},dump_heap:#{mask}")
      File.read(path).tap { File.unlink(path) }
    end
    names = only.lines.map { |line| line[/\A\w+(?= \S+$)/] }
    assert_equal %w[lifespan_max lifespan_min lifespan_mean lifespan_stddev deathspan_max deathspan_min deathspan_mean
                    deathspan_stddev resurrects], names
    assert_match(/^ +\d+ +\d+ \S.*^lifespan_stddev \S+$.*^0x\h+ \d+$/m, all)
  end

  # An address of this run, whatever follows it or stands before it; and the location's own name.
  def test_native_code_is_found_by_its_address
    found = mwrap(<<~RUBY)
      require "mwrap"
      places = Heapline.snapshot.map(&:location).select { |place| place.offset && place.library_path && !place.path }
      place = places.find { |one| one.to_s.start_with?("libruby", "ruby") } || places.first
      file = File.realpath(place.library_path)
      base = File.foreach("/proc/self/maps").find { |line| line.chomp.end_with?(" " + file) }.hex
      address = format("[0x%x]", base + place.offset)
      names = [place.to_s, address, "\#{file}(+0x\#{place.offset.to_s(16)}) \#{address}"].map { |text| Mwrap[text]&.name }
      answer name: place.to_s, names: names, nowhere: Mwrap["[0x10]"], other: Mwrap[format("[0x%x]", base + 1)]
    RUBY
    assert_equal [found[:name]] * 3, found[:names]
    assert_equal [nil, nil], found.values_at(:nowhere, :other)
  end

  def test_a_program_that_is_not_ruby_dumps_at_its_end
    path = File.join(new_directory, "log")
    program = NativePrograms.program("plain", "-lpthread")
    run = mwrap_of("--any", program, MWRAP: "dump_path:#{path},dump_min:50000")
    assert_equal ["done\n", 5], [run.output, run.status.exitstatus]
    assert_includes File.readlines(path).map { |line| line.split.first(2) }, %w[700700 700]
    assert_match(/^ +700700 +700 plain\+0x\h+$/, mwrap_of("--any", program, MWRAP: "dump_fd:2").error)
  end

  def test_a_script_without_mwrap_in_its_gemfile_finds_it
    found = mwrap('require "mwrap"; answer version: Mwrap::VERSION, file: $LOADED_FEATURES.grep(/mwrap\.rb/).size')
    assert_equal({ version: "2.3.0", file: 2 }, found)
  end

  private

  def mwrap(text, **env)
    answers_of(mwrap_run(text, **env))
  end

  def mwrap_run(text, **env)
    mwrap_of("--quiet", *ruby(script(SPEAK + text)), **env)
  end

  def mwrap_of(*words, **env)
    directory = new_directory
    command = ruby(Heapline::TestHelper::EXE, "--mwrap", *words)
    watch(command, directory: directory, env: { "HEAPLINE_DIR" => directory }.merge(env.transform_keys(&:to_s)))
  end
end
