# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# Where memory, disk or permission is missing, a program behaves as it would without heapline.
class FailuresTest < Minitest::Test
  include FlightRun

  FAILURES = 1000
  STEP = FlightRun.torture(3, 1, 1)
  TEXT = "$kept = Array.new(1000) { |i| 'k' * (i + 500) }; puts $kept.sum(&:size); exit 3"

  # Each of the first 1,000 allocations fails, once or three times in a row: Ruby collects garbage and asks again.
  def test_out_of_memory
    text = <<~RUBY
      require #{NativePrograms.extension("arming").inspect}
      $stdout.sync = true
      GC.start
      def work
        a = Array.new(300) { |i| "work" * (i + 30) }
        h = a.each_with_index.to_h { |s, i| [s.to_sym, [i]] }
        eval("lambda { |x| x.map(&:to_s).join(',') }").call(h.values)
        Fiber.new { a.map(&:dup) }.resume
        a.sort.to_s =~ /wo+r(k)\#{h.size}/
        3**2000 + h.size
        :worked
      end
      1.step(#{FAILURES}, #{STEP}) do |n|
        pid = fork do
          Process.setrlimit(:CPU, 1)
          GC.disable
          Arming.arm(n, n.odd? ? 1 : 3)
          result = begin
            work
          rescue NoMemoryError, StandardError => e
            e.class
          end
          Arming.arm(0, 0)
          puts "\#{n} \#{result}"
          exit!(0)
        end
        Process.wait(pid)
        puts "\#{n} ended by signal \#{$?.termsig}" if $?.signaled?
      end
    RUBY
    without, shifted, with = outcomes_without_and_with(text)
    # Ruby alone may fall into an endless loop; it is compared where it does not.
    without.reject! { |_, outcome| outcome.match?(/signal (#{Signal.list.values_at("XCPU", "KILL").join("|")})$/) }
    # It may also free what it never had. What comes of that hangs on what lay in the memory before: without heapline,
    # but with blocks of heapline's size, it is already another.
    without.select! { |n, outcome| shifted[n] == outcome }
    assert_operator without.size, :>=, FAILURES / STEP * 0.99
    assert_includes without.values, "NoMemoryError"
    assert_includes without.values, "worked"
    # Where it crashes either way, the allocator and heapline look at different bytes of what it frees.
    [without, with].each { |outcomes| outcomes.transform_values! { |outcome| outcome.sub(/ended by .*/, "crashed") } }
    different = without.reject { |n, outcome| with[n] == outcome }.map { |n, outcome| [n, outcome, with[n]] }
    # Which request is the n-th depends a little on addresses and hash seeds: two plain runs may differ in a few, too.
    assert_operator different.size, :<=, FAILURES * 0.005, different.inspect
  end

  def test_a_limit_of_address_space
    text = <<~RUBY
      a = []
      begin
        loop { a << "m" * 10_000_000 }
      rescue NoMemoryError => e
        n = a.size
        a = nil
        puts e.class, n > 5
      end
    RUBY
    program = script(text)
    limited = ->(kilobytes) { ["bash", "-c", "ulimit -v #{kilobytes}; exec \"$@\"", "bash", *ruby(program)] }
    assert_same_behaviour(limited.call(3_000_000))
    assert_same_behaviour(limited.call(700_000))
  end

  def test_a_limit_of_file_size
    [0, 1, 100, 10_000].each do |blocks|
      command = ["bash", "-c", "ulimit -f #{blocks}; exec \"$@\"", "bash", *ruby(script(TEXT))]
      assert_goes_on(command, "ulimit -f #{blocks}")
    end
  end

  def test_a_limit_of_file_descriptors
    text = <<~RUBY
      files = []
      begin
        loop { files << File.open(__FILE__) }
      rescue Errno::EMFILE => e
        puts e.class, files.size
      end
      files.each(&:close)
    RUBY
    command = ["bash", "-c", "ulimit -n 30; exec \"$@\"", "bash", *ruby(script(text))]
    without = plain(command)
    with = flight(command)
    assert_equal without.status.exitstatus, with.status.exitstatus
    assert_in_delta without.output[/\d+/].to_i, with.output[/\d+/].to_i, 1
  end

  def test_a_program_that_closes_all_descriptors
    text = <<~RUBY
      (3..1023).each { |fd| IO.for_fd(fd, autoclose: false).close rescue nil }
      $other = File.open(__FILE__)
      $kept = Array.new(20_000) { |i| "k" * 50; eval("'x'", nil, "f\#{i}", i) }
      Process.wait(fork { $own = 'o' * 50_000; exit!(0) })
      puts $other.read == File.read(__FILE__)
      $stdout.flush
      exit!(0)
    RUBY
    run = assert_same_behaviour(ruby(script(text)))
    assert_equal "true\n", run.output
    run.snapshots.each { |snapshot| assert_operator snapshot.allocations, :>, 20_000 }
  end

  def test_a_directory_that_cannot_be_made
    assert_goes_on(ruby(script(TEXT)), "no directory", env: { "HEAPLINE_DIR" => "/proc/nowhere" }, says: /No such file/)
  end

  def test_a_directory_open_to_others
    File.chmod(0o777, open = new_directory)
    assert_goes_on(ruby(script(TEXT)), "0777", env: { "HEAPLINE_DIR" => open }, says: /others may write there/)
    assert_empty Dir.children(open)
  end

  def test_a_directory_of_another_user
    skip "only root can give a directory away" unless Process.uid.zero?

    File.chown(65_534, nil, other = new_directory)
    assert_goes_on(ruby(script(TEXT)), "another's", env: { "HEAPLINE_DIR" => other }, says: /belongs to another user/)
  end

  def test_a_directory_that_is_a_link
    File.symlink(new_directory, link = File.join(workplace, "link"))
    assert_goes_on(ruby(script(TEXT)), "link", env: { "HEAPLINE_DIR" => link }, says: /heapline: .*link: /)
  end

  def test_small_and_full_file_systems
    ["size=4k", "size=64k", "size=200k", "size=400k", "size=2m", "nr_inodes=1"].each do |options|
      on_tmpfs(options) do |directory|
        assert_goes_on(ruby(script(TEXT)), options, env: { "HEAPLINE_DIR" => directory })
        # Children need room too.
        text = "3.times { Process.wait(fork { $c = 'c' * 9999; exit!(0) }) }; #{TEXT}"
        assert_goes_on(ruby(script(text)), options, env: { "HEAPLINE_DIR" => directory })
      end
    end
  end

  # More sites than the file system has room for: what does not fit is (other), and the totals stay right.
  def test_a_file_system_that_fills_up
    on_tmpfs("size=1m") do |directory|
      text = "20_000.times { |i| eval(\"'x' * 5000\", nil, \"file\#{i}\", 1) }\nputs :done\nexit!(0)\n"
      run = assert_goes_on(ruby(script(text)), "1 MB", env: { "HEAPLINE_DIR" => directory })
      assert_operator run.snapshot.failures[:pages_refused], :>, 0
      assert_operator run.snapshot.allocations, :>, 20_000
      assert(run.snapshot.any? { |site| site.location.to_s == "(other)" && site.allocations.positive? })
      assert(run.snapshot.none? { |site| site.frees > site.allocations })
    end
  end

  def test_a_file_system_for_reading_only
    on_tmpfs("size=1m", remount: "ro") do |directory|
      assert_goes_on(ruby(script(TEXT)), "ro", env: { "HEAPLINE_DIR" => directory }, says: /Read-only file system/)
    end
  end

  private

  # Number of the failing allocation => what came of it: plain, plain with each block 8 bytes longer, under heapline.
  def outcomes_without_and_with(text)
    failing = NativePrograms.library("failing")
    runs = [plain(ruby(script(text)), env: { "LD_PRELOAD" => failing }, deadline: 120),
            plain(ruby(script(text)), env: { "LD_PRELOAD" => failing, "FAILING_LONGER" => "8" }, deadline: 120),
            flight(ruby(script(text)), preload: [failing], heapline: "", deadline: 120)]
    runs.map { |run| run.output.lines(chomp: true).to_h { |line| line.split(" ", 2) } }
  end

  # Same output and status as without heapline; on standard error nothing, or one line of heapline's own.
  def assert_goes_on(command, what, says: nil, **options)
    without = plain(command)
    with = flight(command, **options)
    assert_equal without.seen.except(:error), with.seen.except(:error), "#{what}: #{with.error}"
    more = with.error.delete_prefix(without.error)
    assert_operator more.lines.size, :<=, 1, what
    assert_match(/\A(heapline: .*\n)?\z/, more, what)
    assert_match(says, more) if says
    with
  end

  def on_tmpfs(options, remount: nil)
    skip "only root can mount" unless Process.uid.zero?

    directory = new_directory
    unless system("mount -t tmpfs -o #{options},mode=700 tmpfs #{directory} 2>/dev/null")
      skip "mounting is not allowed here"
    end
    begin
      system("mount -o remount,#{remount} #{directory}") if remount
      yield directory
    ensure
      system("umount -l #{directory}")
    end
  end
end
