# frozen_string_literal: true

require "test_helper"
require "support/accounted"
require "support/growth_lines"
require "English"

# The growth log of real processes, as a user asks for it.
class GrowthLogTest < Minitest::Test
  include Accounted
  include GrowthLines

  # The program's own output, and the lines of each process by pid, once the companion has ended.
  def logged(source, *options, name: "%p.jsonl", env: {})
    out, err, status = heapline("--quiet", "--log", path(name), "--every", "0.05", *options, RbConfig.ruby,
                                "--disable=gems", program(source), env: env)
    await_end
    assert_equal "", err
    [out, status, series(File.dirname(path(name)))]
  end

  def series(directory = @directory)
    lines = Dir[File.join(directory, "*.jsonl")].flat_map { |file| growth_lines(File.read(file)) }
    groups = lines.group_by { |line| line.values_at("pid", "started_at") }.values
    groups.each { |group| assert_series(group) }
    groups.sort_by { |group| group.first["started_at"] }
  end

  # No companion of this test's is left; its mark goes with it.
  def await_end
    await("the companion did not end") { Dir[path("flights/*.companion")].empty? }
  end

  # Lines of the file so far that are whole.
  def lines_in(name)
    return [] unless File.exist?(path(name))

    growth_lines(File.read(path(name)).lines.select { |line| line.end_with?("\n") }.join)
  end

  # Start the program under a log; its pid.
  def begin_log(source, *options, **redirections)
    command = heapline_command("--quiet", "--log", path("%p.jsonl"), "--every", "0.05", *options, RbConfig.ruby,
                               "--disable=gems", program(source))
    pid = Process.spawn(environment, *command, **redirections)
    @processes << pid
    pid
  end

  # Of a program that has come to `says_ready`: before that there are lines too, of a Ruby that starts.
  def await_ready_lines(pid)
    await("the program is not ready") { File.exist?(path("ready")) }
    await_lines(pid, lines_in("#{pid}.jsonl").size + 2)
  end

  def says_ready
    "File.write(#{path("ready").inspect}, '')"
  end

  def await_lines(pid, count)
    await("no #{count} lines of #{pid}") { lines_in("#{pid}.jsonl").size >= count }
  end

  # Of a program that goes on and on: two files, and `heapline growth` reads what is left as one.
  def test_a_log_is_bounded
    pid = begin_log("loop { $k = 'k' * 700_000; sleep 0.01 }", "--log-max", "200k")
    await("the older half is not replaced") do
      File.exist?(older = path("#{pid}.jsonl.1")) && JSON.parse(File.open(older, &:gets))["seq"].positive?
    end
    stop(pid)
    await_end
    names = Dir[path("*.jsonl*")]
    assert_equal(%W[#{pid}.jsonl #{pid}.jsonl.1], names.map { |name| File.basename(name) })
    assert_operator names.sum { |name| File.size(name) }, :<=, 200_000
    out, err, status = heapline("growth", "--json", names.first)
    assert_predicate status, :success?, err
    assert_equal names.sum { |name| File.foreach(name).count }, JSON.parse(out)["lines"]["taken"]
  end

  def test_a_program_that_is_over_at_once_has_one_line
    out, status, groups = logged("$k = 'k' * 700_000; puts 'out'; exit 3")
    assert_equal ["out\n", 3], [out, status.exitstatus]
    assert_equal([["exited"]], groups.map { |lines| lines.last(1).map { |line| line["state"] } })
    site = groups[0].last["sites"].find { |found| found["location"].end_with?("program.rb:1") }
    assert_operator site["growth_bytes"], :>=, 700_000
  end

  def test_forked_workers_have_lines_of_their_own
    out, _, groups = logged(<<~RUBY)
      $inherited = "i" * 600_000
      $go, done = IO.pipe
      2.times { |i| fork { $own = "o" * (i + 1) * 300_000; done.close; $go.read } }
      sleep 0.01 until Dir[#{path("*.jsonl").inspect}].size == 3
      done.close
      p Process.waitall.size
    RUBY
    assert_equal "2\n", out
    assert_equal 3, groups.size
    top, *workers = groups
    parents = groups.map { |lines| lines.map { |line| line["forked_from_pid"] }.uniq }
    assert_equal [[nil]] + ([[top[0]["pid"]]] * 2), parents
    growths = workers.map { |lines| lines.map { |line| line["totals"]["growth_bytes"] }.max }.sort
    assert_in_delta 300_000, growths[0], 150_000
    assert_in_delta 600_000, growths[1], 150_000
    assert_equal(%w[exited] * 3, groups.map { |lines| lines.last["state"] })
  end

  def test_the_last_line_after_kill
    pid = begin_log("$k = 'k' * 700_000; #{says_ready}; sleep")
    await_ready_lines(pid)
    stop(pid)
    await_end
    last = series.first.last
    assert_equal ["killed", nil], last.values_at("state", "rss_bytes")
    assert_operator last["totals"]["live_bytes"], :>, 700_000
    read, err, status = heapline("growth", "--json", path("#{pid}.jsonl"))
    assert_predicate status, :success?, err
    assert_equal 1, JSON.parse(read)["processes"].size
  end

  # At a terminal Ctrl-C, under a service manager SIGTERM, reaches all processes of the program at once.
  def test_a_signal_to_the_group_leaves_the_last_line
    pid = begin_log("#{says_ready}; sleep", pgroup: true, err: File::NULL)
    await_ready_lines(pid)
    Process.kill(:INT, -pid)
    Process.wait(pid)
    await_end
    assert_equal "exited", series.first.last["state"]
  end

  def test_exec_begins_anew_and_goes_on
    # It is seen at one of the companion's looks, a second apart: until then the new image goes on.
    seen = "Dir[#{path("*.jsonl").inspect}].any? { |f| File.read(f).scan(%q(\"seq\":0,)).size == 2 }"
    code = "$x = 'x' * 400_000; sleep 0.01 until #{seen}"
    _, _, groups = logged("#{waits_for_line}; exec(#{RbConfig.ruby.inspect}, '--disable=gems', '-e', #{code.inspect})")
    assert_equal [1, %w[execed exited]],
                 [groups.map { |lines| lines[0]["pid"] }.uniq.size, groups.map { |lines| lines.last["state"] }]
    assert_operator groups[1].last["totals"]["live_bytes"], :>=, 400_000
  end

  def test_a_daemon_is_followed
    pid = begin_log("#{waits_for_line}; Process.daemon(true, true); $d = 'd' * 500_000; " \
                    "File.write(#{path("daemon").inspect}, $$); sleep")
    Process.wait(pid)
    daemon = await { File.exist?(path("daemon")) && File.read(path("daemon"))[/\d+/]&.to_i }
    await_lines(daemon, 2)
    Process.kill(:KILL, daemon)
    await_end
    assert_equal [pid, daemon], [series.first[0]["pid"], series.last[0]["pid"]]
    assert_equal "killed", series.last.last["state"]
  end

  # What the program can see of its own children is the same with and without.
  def test_the_program_does_not_notice
    source = <<~RUBY
      signals = 0
      trap(:CHLD) { signals += 1 }
      %w[wait waitall wait2 waitpid].each do |name|
        p Process.public_send(name)
      rescue Errno::ECHILD => e
        p e.class
      end
      p Process.wait(fork { exit! 4 }).is_a?(Integer), $?.exitstatus, Process.waitall
      sleep 0.001 while signals.zero?
      p signals, Dir.children("/proc/self/fd").map(&:to_i).select { |fd| fd < 30 }.sort
      $stderr.puts "err"
      exit 5
    RUBY
    alone = Open3.capture3(environment, RbConfig.ruby, "--disable=gems", program(source))
    with = heapline("--quiet", "--log", path("%p.jsonl"), "--every", "0.05", RbConfig.ruby, "--disable=gems",
                    program(source))
    await_end
    assert_equal [alone[0], alone[1], alone[2].exitstatus], [with[0], with[1], with[2].exitstatus]
    refute_empty series
  end

  # PID 1 of a container adopts every orphan: there too the companion must not be its child.
  def test_the_first_process_of_a_namespace_does_not_notice
    unshare = %w[unshare --fork --pid --mount-proc]
    skip "needs root and unshare" unless Process.uid.zero? && system(*unshare, "true")

    source = "#{waits_for_line}; p [Process.pid, (Process.wait(-1, Process::WNOHANG) rescue $!.class)]"
    command = heapline_command("--quiet", "--log", path("%p.jsonl"), "--every", "0.05", RbConfig.ruby,
                               "--disable=gems", program(source))
    out, err, status = Open3.capture3(environment, *unshare, *command)
    assert_equal ["[1, Errno::ECHILD]\n", "", 0], [out, err, status.exitstatus]
    assert_operator lines_in("1.jsonl").size, :>=, 1
  end

  # Each of them is process 1.
  def test_namespaces_that_share_the_directory_have_a_log_each
    unshare = %w[unshare --fork --kill-child --pid --mount-proc]
    skip "needs root and unshare" unless Process.uid.zero? && system(*unshare, "true")

    %w[a.jsonl b.jsonl].each do |name|
      command = heapline_command("--quiet", "--log", path(name), "--every", "0.05", RbConfig.ruby, "-e", "sleep")
      @processes << Process.spawn(environment, *unshare, *command)
      await("no #{name}") { lines_in(name).any? }
    end
  end

  def test_it_is_said_where_there_is_no_flight_file
    _, err, = heapline("--quiet", "--log", path("a.jsonl"), RbConfig.ruby, "--disable=gems", "-e", "1",
                       env: { "HEAPLINE_DIR" => "/proc/nothing" })
    assert_match(/\Aheapline: no growth log: it is written from the flight file, and there is none$/, err)
  end

  # The same where a program has asked for orphans: 157 is prctl, 36 PR_SET_CHILD_SUBREAPER.
  def test_a_program_that_adopts_orphans_does_not_notice
    out, = with_api(<<~RUBY)
      syscall(157, 36, 1, 0, 0, 0)
      log = Heapline.log_growth(every: 0.05, to: #{path("x.jsonl").inspect})
      #{waits_for_line}
      p((Process.wait(-1, Process::WNOHANG) rescue $!.class))
      log.stop
    RUBY
    assert_equal "Errno::ECHILD\n", out
  end

  def test_children_are_left_out_without_following
    source = "Process.wait(fork { sleep 0.3 }); system(#{RbConfig.ruby.inspect}, '-e', 'sleep 0.3')"
    _, _, groups = logged(source, "--no-follow")
    assert_equal 1, groups.size
  end

  def test_a_program_of_another_kind_at_the_top
    command = "#{RbConfig.ruby} --disable=gems #{program("$s = 's' * 300_000")}; echo end"
    out, err, = heapline("--quiet", "--log", path("%p.jsonl"), "--every", "0.05", "sh", "-c", command)
    await_end
    assert_equal ["end\n", ""], [out, err]
    assert_equal(["exited"], series.map { |lines| lines.last["state"] })
  end

  def test_rotation_and_a_directory_that_comes_back
    Dir.mkdir(path("logs"))
    pid = begin_log("sleep", "--log", path("logs/a.jsonl"), err: path("err"))
    await { lines_in("logs/a.jsonl").size > 1 }
    File.rename(path("logs/a.jsonl"), path("logs/a.1"))
    await { lines_in("logs/a.jsonl").size > 1 }
    File.rename(path("logs"), path("gone"))
    await { File.size(path("err")).positive? }
    Dir.mkdir(path("logs"))
    await { lines_in("logs/a.jsonl").size > 1 }
    stop(pid)
    await_end
    all = lines_in("gone/a.1") + lines_in("gone/a.jsonl") + lines_in("logs/a.jsonl")
    assert_series(all)
    assert_operator all.sum { |line| line["dropped_lines"] }, :>, 0
    assert_match(/\Aheapline: the growth log cannot be written to .*No such file.*\n\z/, File.read(path("err")))
  end

  def test_a_full_disk_drops_lines_and_recovers
    skip "needs root, for a small file system" unless Process.uid.zero?
    Dir.mkdir(path("disk"))
    skip "cannot mount" unless system("mount", "-t", "tmpfs", "-o", "size=64k", "none", path("disk"), err: File::NULL)
    begin
      pid = begin_log("sleep", "--log", path("disk/a.jsonl"), err: path("err"))
      await { File.size(path("err")).positive? }
      torn = File.read(path("disk/a.jsonl"))
      File.truncate(path("disk/a.jsonl"), torn.size / 2)
      half = torn[0, torn.size / 2].count("\n")
      await { File.read(path("disk/a.jsonl")).count("\n") > half + 1 }
      stop(pid)
      await_end
      lines = whole_lines(File.read(path("disk/a.jsonl")))
      assert_operator lines.sum { |line| line["dropped_lines"] }, :>, 0
      assert_match(/No space left/, File.read(path("err")))
    ensure
      system("umount", path("disk"))
    end
  end

  def test_the_copy_at_the_threshold
    source = "$k = Array.new(60) { |i| 'k' * 1_000_000 }; #{waits_for_line("snapshot\":\"")}"
    _, _, groups = logged(source, "--rss", "40M")
    copies = groups.flatten.filter_map { |line| line["snapshot"] }
    assert_equal 1, copies.size
    report = json_report(copies.first)
    assert_operator figure(report, "#{path("program.rb")}:1", "live_bytes"), :>=, 20_000_000
  end

  def test_from_outside_until_it_ends
    pid, = start(program("puts 'ready'; $stdout.flush; sleep"))
    reader, writer = IO.pipe
    log = Process.spawn(environment, *heapline_command("log", pid.to_s, "--every", "0.05"), out: writer)
    writer.close
    first = Array.new(3) { reader.gets }
    stop(pid)
    rest = reader.read
    Process.wait(log)
    assert_predicate $CHILD_STATUS, :success?
    lines = assert_series(growth_lines(first.join + rest))
    assert_equal [pid, "killed"], lines.last.values_at("pid", "state")
  end

  def test_interrupting_the_log_from_outside
    pid, = start(program("puts 'ready'; $stdout.flush; sleep"))
    log = Process.spawn(environment, *heapline_command("log", pid.to_s, "--every", "0.05", "-o", path("x.jsonl")))
    await { lines_in("x.jsonl").size > 1 }
    Process.kill(:INT, log)
    Process.wait(log)
    assert_predicate $CHILD_STATUS, :success?
  end

  # The program of `text`, with heapline loaded, without any option; [output, error, status].
  def with_api(text)
    lib = Heapline::TestHelper::LIB
    result = heapline("--quiet", RbConfig.ruby, "--disable=gems", "-I", lib, "-rheapline", program(text))
    assert_equal "", result[1]
    result
  end

  def test_asked_for_by_the_program
    out, = with_api(<<~RUBY)
      log = Heapline.log_growth(every: 0.05, to: #{path("api-%p.jsonl").inspect}, top: 3)
      child = fork { sleep }
      sleep 0.01 until [$$, child].all? { |pid| File.exist?(#{path("api-").inspect} + pid.to_s + ".jsonl") }
      Process.kill(:KILL, child)
      p Process.waitall.size
      #{waits_for_line("killed")}
      log.stop
    RUBY
    assert_equal "1\n", out
  end

  def test_lines_for_an_io_of_the_program
    out, = with_api(<<~RUBY)
      require "stringio"
      trap(:CHLD) { $stdout.write "a child\\n" }
      io = StringIO.new
      log = Heapline.log_growth(every: 0.05, to: io)
      sleep 0.01 until io.string.count("\\n") > 2
      log.stop
      600.times { Thread.list.size > 1 && sleep(0.1) }
      print io.string
      p [Thread.list.size, (Process.wait(-1, Process::WNOHANG) rescue $!.class)]
    RUBY
    *lines, left = out.lines
    assert_equal "[1, Errno::ECHILD]\n", left
    refute_includes lines, "a child\n"
    assert_series(growth_lines(lines.join))
  end

  private

  # Those that parse.
  def whole_lines(text)
    text.lines.filter_map do |line|
      JSON.parse(line)
    rescue JSON::ParserError
      nil
    end
  end

  # Ruby code that waits until the log has a line with this text.
  def waits_for_line(text = "\"seq\":")
    "sleep 0.01 until Dir[#{path("*.jsonl").inspect}].any? { |f| File.read(f).include?(#{text.inspect}) }"
  end
end
