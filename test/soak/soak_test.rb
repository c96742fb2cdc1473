# frozen_string_literal: true

require "json"
require "test_helper"
require "heapline/accounting/flight"
require "support/accounted"
require "support/native_programs"
require "support/object_rows"
require "support/own_memory"

# Everything at once for DURATION seconds (an hour), and readers from outside beside it. Every half minute the program
# rests: then each identity has to hold, and nothing may have grown in the second half. No time is judged.
# SOAK_RUBY: words of the Ruby that runs the program; by default the one that runs the test.
class SoakTest < Minitest::Test
  include Accounted
  include ObjectRows
  include OwnMemory

  DURATION = Integer(ENV.fetch("DURATION", "3600"))
  RUBY = ENV.fetch("SOAK_RUBY", RbConfig.ruby).split.freeze
  ROUND = (DURATION / 6.0).clamp(1, 28)
  LEAST_ROUNDS = 4
  # By so much it may have grown at the end, of the program at rest. Own memory goes on to fill until each lane has met
  # all lines whose blocks a GC in its thread freed. A word that is left on a thread's stack keeps 300 rows of a line.
  LIMITS = { own_bytes: 2_500_000, mappings: 8, live_bytes: 1_000_000, flight_bytes: 2_500_000,
             worst_line: 2_000 }.freeze
  LOG_BYTES = 1_000_000
  COMPANION_BYTES = 160_000_000 # of the process that writes the log: it reads objects and thousands of lines
  KEPT = "/dev/zero" # how the kernel calls memory that parent and child share
  QUIET = 120 # seconds for a command's answer

  # Where as many blocks are freed as were asked for; what the VM keeps there itself, it keeps from the first call on.
  PROGRAM = File.join(__dir__, "program.rb")
  EXACT = "program.rb:#{File.readlines(PROGRAM).index { |line| line.include?("Fiddle.malloc") } + 1}".freeze

  Rest = Struct.new(:own_bytes, :mappings, :live_bytes, :flight_bytes, :lines, :descriptors, :children,
                    :companion_bytes, :done, :sites, keyword_init: true)

  def test_everything_at_once
    begin_program
    limit = now + DURATION
    rests = []
    rests << round until rests.size >= LEAST_ROUNDS && now > limit - ROUND
    end_program
    warm, last = rests.values_at((rests.size / 2) - 1, -1)
    assert_flat(warm, last)
    assert_empty last.children
    assert_equal warm.descriptors.size, last.descriptors.size, "#{warm.descriptors} #{last.descriptors}"
    assert_equal([], last.done.select { |_, times| times.zero? }.keys)
    assert_nothing_left
  end

  private

  def begin_program
    @began = now
    @trials = path("trials").tap { |directory| Dir.mkdir(directory) }
    @log = path("growth.jsonl")
    @killed = []
    from_program, output = IO.pipe
    input, @to_program = IO.pipe
    command = heapline_command("--quiet", "--objects", "--log", @log, "--log-max", LOG_BYTES.to_s,
                               "--every", "2", *RUBY,
                               PROGRAM, NativePrograms.library("grabber"), @trials)
    @pid = Process.spawn(environment(SOAK_CORE: Heapline::TestHelper::CORE, TMPDIR: @trials), *command,
                         in: input, out: output, err: path("errors"))
    [input, output].each(&:close)
    @from_program = from_program
    @processes << @pid
    rest
  end

  def say(word)
    @to_program.puts(word)
  end

  # What the program says when it has come to rest, and keeps nothing for children any more. Of one that was killed
  # before it ran, it keeps the counts until it has waited for it in vain, for seconds.
  def rest
    await("counts are kept for a child that has ended") do
      say("rest")
      answer = JSON.parse(@from_program.gets || flunk("the program ended: #{File.read(path("errors"))}"))
      answer if Heapline::Processes::MemoryMap.read(@pid).none? { |mapping| mapping.name.start_with?(KEPT) }
    end
  end

  # Load for ROUND seconds, with readers; then what is found at rest.
  def round
    say("go")
    limit = now + ROUND
    read_from_outside until now > limit
    answer = rest
    @killed = answer["killed"]
    found = look(answer)
    puts format("%4d s: own %d KB, live %d KB, %d sites, GC %d; %s", now - @began, found.own_bytes / 1024,
                found.live_bytes / 1024, found.sites, answer["gc_count"],
                found.done.map { |name, times| "#{times} #{name}" }.join(", "))
    $stdout.flush
    found
  end

  # One command after the other, each of which has to succeed.
  def read_from_outside
    @readers ||= readers.cycle
    words = @readers.next
    out, err, status = heapline(*words)
    assert_predicate status, :success?, "heapline #{words.join(" ")}: #{err}#{out[-2000..]}"
  end

  def readers
    pid = @pid.to_s
    any = [["report", "--json", pid], ["rss", pid], ["top", "--once", "--every", "0.5", pid], ["ps"], ["baseline", pid],
           ["record", "--duration", "1", "--timeout", QUIET.to_s, "-o", path("run.hlc"), pid],
           ["snapshot", pid, "-o", path("kept.heapline")], ["report", path("kept.heapline")], ["trim", pid]]
    own = [["stack", "--timeout", QUIET.to_s, pid], ["pages", "--timeout", QUIET.to_s, pid]]
    RUBY == [RbConfig.ruby] ? any + own : any
  end

  # All threads of the program wait.
  def look(answer)
    file = flight_files.find { |name| File.basename(name).start_with?("#{@pid}-") } or flunk("no flight file")
    assert_live_identity([file])
    assert_complete(file)
    snapshot = Heapline::Accounting::Flight.read(file)
    assert_equal 0, snapshot.failures.sum(&:last), snapshot.failures.inspect
    lines = snapshot.sites.group_by { |site| site.location.to_s }.transform_values { |sites| sites.sum(&:live_blocks) }
    Rest.new(own_bytes: own_bytes(@pid), mappings: mappings, live_bytes: snapshot.live_bytes, lines: lines,
             flight_bytes: File.stat(file).blocks * 512, descriptors: descriptors, children: children,
             sites: snapshot.sites.size,
             companion_bytes: companions.sum { |pid| rss(pid) }, done: answer["done"])
  end

  def mappings
    Heapline::Processes::MemoryParts.new(Heapline::Processes::MemoryMap.read(@pid))[:heapline].size
  end

  # What each of the program's descriptors leads to. The ring of the last recording stays until the next one begins.
  def descriptors
    links = Dir["/proc/#{@pid}/fd/*"].map { |link| File.readlink(link) }.sort
    rings, others = links.partition { |link| link.end_with?(".taken (deleted)") }
    assert_operator rings.size, :<=, 1
    others
  end

  # Pids of all processes that are the program's children, also of those that ended.
  def children
    Dir["/proc/[0-9]*/stat"].filter_map do |file|
      pid, parent = File.read(file).match(/\A(\d+) \(.*\) \S (\d+)/m)&.captures
      Integer(pid) if parent == @pid.to_s
    rescue SystemCallError
      nil
    end
  end

  # Processes of ours beside the program: they have its flight directory.
  def companions
    Dir["/proc/[0-9]*/environ"].filter_map do |file|
      Integer(file[/\d+/]) if File.binread(file).include?("HEAPLINE_DIR=#{File.join(@directory, "flights")}\0")
    rescue SystemCallError
      nil
    end - [@pid]
  end

  def rss(pid)
    File.read("/proc/#{pid}/statm").split[1].to_i * 4096
  rescue SystemCallError
    0
  end

  def assert_flat(warm, last)
    grown = LIMITS.except(:worst_line).keys.to_h { |name| [name, last[name] - warm[name]] }
    line, blocks = last.lines.map { |name, live| [name, live - warm.lines.fetch(name, 0)] }.max_by(&:last)
    puts "grew in the second half: #{grown}, most at a line: #{blocks} blocks at #{line}"
    grown[:worst_line] = blocks
    assert_operator last.companion_bytes, :<, COMPANION_BYTES
    exact = [warm, last].map { |rest| rest.lines.sum { |name, live| name.end_with?(EXACT) ? live : 0 } }
    assert_equal exact.first, exact.last, "a free was lost, or counted twice"
    assert_equal({}, grown.select { |name, amount| amount > LIMITS.fetch(name) }, "at #{line}")
  end

  def end_program
    say("end")
    _, status = Process.wait2(@pid)
    assert_predicate status, :success?
    assert_empty File.read(path("errors"))
    await("processes are left: #{companions}") { companions.empty? }
  end

  # Files of children that were killed are there for who wants to know of them.
  def assert_nothing_left
    files = Dir.children(File.join(@directory, "flights")).reject { |name| @killed.include?(name.to_i) }
    assert_empty files
    assert_empty(Dir.children(@trials).grep_v(/\Acopy\d+\.so\z/))
    logs = Dir["#{@log}.1", @log]
    assert_operator logs.sum { |log| File.size(log) }, :<=, LOG_BYTES
    lines = logs.flat_map { |log| File.readlines(log) }.map { |line| JSON.parse(line) }
                .select { |line| line["pid"] == @pid }
    numbers = lines.map { |line| line["seq"] }
    assert_equal [(numbers.first..numbers.last).to_a, 0, "exited"],
                 [numbers, lines.sum { |line| line["dropped_lines"] }, lines.last["state"]]
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
