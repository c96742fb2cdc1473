# frozen_string_literal: true

require "test_helper"
require "support/accounted"

# `heapline --objects` on real programs with planted truth: every report names line and class with exact counts.
class ObjectReportTest < Minitest::Test
  include Accounted

  EXAMPLE = File.join(Heapline::TestHelper::ROOT, "examples", "object_leaks.rb")
  # Makes 100 and forks two workers that make 50 each; all wait until they are told to end.
  TREE = <<~RUBY
    class Page; end
    class Job; end
    KEPT = []
    def inherit = 100.times { KEPT << Page.new } # line 4
    def work = 50.times { KEPT << Job.new } # line 5
    inherit
    $life, $held = IO.pipe
    $ready, $said = IO.pipe
    pids = Array.new(2) do
      fork do
        $held.close
        work
        KEPT.fill(nil, 0, 10)
        GC.start
        $said.write(".")
        $life.read
        exit!
      end
    end
    $ready.read(2)
    $stdout.puts pids.join(" ")
    $stdout.flush
    sleep
  RUBY

  # Line of the example on which this text stands.
  def line_of(text)
    File.readlines(EXAMPLE).index { |line| line.include?(text) } + 1
  end

  # { "file.rb:12 Class" => value } of JSON rows of objects.
  def rows(report, key = "live")
    report["objects"]["sites"].to_h { |row| ["#{File.basename(row["location"])} #{row["class"]}", row[key]] }
  end

  # Start the program under `heapline --objects --quiet`; [pid, its first line].
  def start_with_objects(source)
    reader, writer = IO.pipe
    pid = Process.spawn(environment, *heapline_command("--objects", "--quiet", RbConfig.ruby, "--disable=gems",
                                                       program(source)), out: writer)
    writer.close
    @processes << pid
    assert reader.wait_readable(PATIENCE), "the program wrote nothing"
    [pid, reader.gets.to_s.chomp]
  end

  # The report of a process once it has this row: names of classes are asked for at a safe point.
  def named(pid, row, *options)
    await("no #{row}") { json_report(pid, *options).then { |report| report if rows(report).key?(row) } }
  end

  def test_three_leaks_with_exact_counts
    out, err, status = heapline("--objects", "-o", path("run.json"), RbConfig.ruby, EXAMPLE, "2000")
    assert status.success?, err
    assert_equal "2000 quotes, 1000 subscribers, 400 blocks with a page each\n", out
    found = rows(JSON.parse(File.read(path("run.json"))))
    planted = { "Quote.new(product" => ["Prices::Quote", 2000], "Subscriber.new" => ["News::Subscriber", 1000],
                "format(" => ["String", 400], "@blocks <<" => ["Proc", 400] }
    planted.each do |text, (name, count)|
      assert_equal count, found["object_leaks.rb:#{line_of(text)} #{name}"], name
    end
    garbage = found.select { |place, _| place.start_with?("object_leaks.rb:#{line_of("part \#{part}")} ") }
    assert_operator garbage.values.sum, :<=, 20, "what is dropped is not retained"
  end

  def test_the_report_at_the_end_has_both_halves
    _, err, = heapline("--objects", "--top", "5", RbConfig.ruby, EXAMPLE, "2000")
    assert_match(/growth▼ .* objects  location$/, err)
    assert_match(/^  objects  live [\d,]+ in /, err)
    assert_match(/^ +2,000 +2,000 .* Prices::Quote +\S*object_leaks\.rb:\d+/, err)
  end

  def test_what_outlives_sigkill
    pid, = start_with_objects(<<~RUBY)
      class Session; end
      KEPT = Array.new(500) { Session.new } # line 2
      $stdout.puts "ready"
      $stdout.flush
      sleep
    RUBY
    named(pid, "program.rb:2 Session")
    stop(pid)
    report = json_report(pid)
    assert_equal "killed", report["process"]["state"]
    assert_equal 500, rows(report)["program.rb:2 Session"]
    out, = heapline("report", "--by", "class", pid.to_s)
    assert_match(/ 500 .* Session$/, out)
  end

  def test_a_tree_of_forked_processes
    pid, workers = start_with_objects(TREE)
    merged = rows(named(pid, "program.rb:4 Page", "--merge"))
    assert_equal [100, 100], merged.values_at("program.rb:4 Page", "program.rb:5 Job")
    workers.split.each do |worker|
      report = named(worker, "program.rb:5 Job")
      assert_includes 90..92, rows(report)["program.rb:4 Page"], "GC may find a left-over word of the stack"
      assert_includes(-10..-8, rows(report, "growth")["program.rb:4 Page"])
      assert_equal 50, rows(report)["program.rb:5 Job"]
      assert_equal 50, rows(report, "retained")["program.rb:5 Job"]
    end
  end

  def test_what_grew_between_two_snapshots
    pid, = start_with_objects(<<~RUBY)
      KEPT = []
      Entry = Struct.new(:number)
      def add = KEPT << Entry.new(1) # line 3
      10.times { add }
      $stdout.puts "ready"
      $stdout.flush
      sleep
    RUBY
    named(pid, "program.rb:3 Entry")
    assert_match(/nothing differs/, heapline("diff", "--by", "class", pid.to_s, pid.to_s).first)
    early, late = %w[early late].map { |name| path("#{name}.json") }
    _, err, status = heapline("report", pid.to_s, "-o", early)
    assert status.success?, err
    report = JSON.parse(File.read(early))
    entry = report["objects"]["sites"].find { |row| row["class"] == "Entry" }
    entry["allocated"] += 5
    File.write(late, JSON.generate(report))
    grown = JSON.parse(heapline("diff", "--json", early, late).first)["objects"]["sites"]
    assert_equal([["Entry", 5]], grown.map { |row| row.values_at("class", "growth") })
  end

  def test_the_growth_log_and_its_reader
    _, err, status = heapline("--objects", "--quiet", "--log", path("%p.jsonl"), "--every", "0.05", RbConfig.ruby,
                              "--disable=gems", EXAMPLE, "2000")
    assert status.success?, err
    await("the companion did not end") { Dir[path("flights/*.companion")].empty? }
    lines = Dir[path("*.jsonl")].flat_map { |file| File.readlines(file) }.map { |line| JSON.parse(line) }
    quotes = lines.last["objects"].find { |row| row["class"] == "Prices::Quote" }
    assert_equal [2000, 2000], quotes.values_at("live", "growth")
    assert_operator lines.last["object_totals"]["live"], :>=, 3800
    out, err, status = heapline("growth", *Dir[path("*.jsonl")])
    assert status.success?, err
    assert_match(/#{lines.size} lines? · 1 process/, out)
  end

  def test_top_by_class
    pid, = start_with_objects(<<~RUBY)
      class Session; end
      KEPT = Array.new(700) { Session.new }
      $stdout.puts "ready"
      $stdout.flush
      loop { Array.new(10) { "garbage" }; sleep 0.01 }
    RUBY
    await("classes have their names") do
      out, err, status = heapline("top", "--once", "--every", "0.1", "--by", "class", "--top", "50", pid.to_s)
      assert status.success?, err
      out.match?(/ objects .* class$/) && out.match?(/ 700 .* Session$/)
    end
  end

  def test_without_objects_it_says_what_to_do
    pid, = start("$stdout.puts 1\n$stdout.flush\nsleep\n".then { |source| program(source) })
    _, err, status = heapline("report", "--objects", pid.to_s)
    assert_equal 3, status.exitstatus
    assert_equal "heapline: process #{pid} does not count Ruby objects: start it with heapline --objects (or " \
                 "HEAPLINE=objects), or use Heapline.objects { … } in it\n", err
  end
end
