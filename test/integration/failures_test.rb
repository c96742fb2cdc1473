# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/flight_run"

# Where memory, disk or permission is missing, a program behaves as it would without heapline.
class FailuresTest < Minitest::Test
  include FlightRun

  FAILURES = 1000
  STEP = FlightRun.torture(9, 5, 1) # odd: once and three times take turns
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
          Arming.limit(300)
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
    without.reject! { |_, outcome| outcome.match?(/signal (#{Signal.list.fetch("PROF")})$/) }
    # It may also free what it never had. What comes of that hangs on what lay in the memory before: without heapline,
    # but with blocks of heapline's size, it is already another.
    without.select! { |n, outcome| shifted[n] == outcome }
    assert_operator without.size, :>=, FAILURES / STEP * 0.97
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
    assert_same_behaviour(limited.call(1_200_000))
    assert_same_behaviour(limited.call(700_000))
  end

  # Eight megabytes more than the program alone comes to: heapline takes four for its flight and tables, and counts.
  def test_a_tight_limit_of_address_space
    program = script("$kept = 'k' * 100_000; puts File.read('/proc/self/status')[/VmPeak:\\s+(\\d+)/, 1]")
    limit = plain(ruby(program)).output.to_i + 8_000
    run = flight(["bash", "-c", "ulimit -v #{limit}; exec \"$@\"", "bash", *ruby(program)])
    assert run.status.success?, run.error
    assert_empty run.error
    kept = run.snapshot.find { |site| site.location.path == program && site.location.library.nil? }
    assert_operator kept.live_bytes, :>=, 100_000
  end

  def test_a_limit_of_file_size
    [0, 1, 100, 10_000].each do |blocks|
      command = ["bash", "-c", "ulimit -f #{blocks}; exec \"$@\"", "bash", *ruby(script(TEXT))]
      assert_goes_on(command, "ulimit -f #{blocks}")
    end
  end

  # The ring of a recording is longer than this, and the kernel would end the program by SIGXFSZ.
  def test_a_limit_of_file_size_that_comes_later
    text = <<~RUBY
      require "fiddle"
      record = Fiddle::Function.new(Fiddle.dlopen(nil)["heapline_record"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT)
      Process.setrlimit(:FSIZE, 1 << 20)
      p record.call(1) == -Errno::EFBIG::Errno
      #{TEXT}
    RUBY
    run = flight(ruby(script(text)))
    assert_equal "true\n999500\n", run.output, run.error
    assert_equal 3, run.status.exitstatus
  end

  # Neither a file nor address space is left for the flight of a child.
  def test_a_child_whose_flight_cannot_be_made
    text = <<~RUBY
      $kept = Array.new(2000) { |i| "x" * (100 + i) }
      Process.setrlimit(:AS, File.read("/proc/self/statm").to_i * 4096 + 30_000_000)
      Process.setrlimit(:FSIZE, 4096)
      Process.wait(fork do
        own = Array.new(5000) { |i| "y" * (100 + i) }
        own.clear
        $kept.shift(1000)
        GC.start
        Class.new.new
        Process.wait(fork { exit(5) })
        Thread.new { "t" * 1000 }.join
        exit(7 + $?.exitstatus)
      end)
      p $?.exitstatus
      exit 3
    RUBY
    ["keep", "keep,objects", "keep,blocks"].each do |heapline|
      run = flight(ruby(script(text)), heapline: heapline)
      assert_equal ["12\n", 3], [run.output, run.status.exitstatus], "#{heapline}: #{run.error}"
      assert_match(/\Aheapline: process \d+ is not counted: .+\n\z/, run.error, heapline)
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

  DROPS_USER = <<~RUBY
    ENV["HEAPLINE_DIR"] = ARGV[0] if ARGV[0]
    Process::UID.change_privilege(65_534)
    Process.wait(fork { $kept = Array.new(2000) { |i| "y" * (i + 500) } })
  RUBY

  # As those do that such a program starts.
  def test_forked_children_of_a_program_that_dropped_its_user_go_to_the_new_users_directory
    skip "only root can be another user" unless Process.uid.zero?

    File.chown(65_534, nil, theirs = new_directory)
    run = assert_goes_on(ruby(script(DROPS_USER), theirs), "another's")
    assert_equal([1, 1], [run.directory, theirs].map { |directory| Dir.children(directory).size })
    child = Heapline::Accounting::Flight.read(Dir["#{theirs}/*.flight"].first)
    assert_equal run.snapshot.pid, child.forked_from
    assert_operator site_at(child, 3).retained_bytes, :>, 2_000_000
  end

  def test_it_is_said_where_the_new_user_has_none
    skip "only root can be another user" unless Process.uid.zero?

    assert_goes_on(ruby(script(DROPS_USER)), "none", says: /Permission denied: counts are kept in memory only/)
  end

  def test_a_directory_that_is_a_link
    File.symlink(new_directory, link = File.join(workplace, "link"))
    assert_goes_on(ruby(script(TEXT)), "link", env: { "HEAPLINE_DIR" => link }, says: /heapline: .*link: /)
  end

  # What is cut short is another directory's name.
  def test_a_directory_whose_name_is_too_long
    [600, 4000].each do |length|
      path = "#{above = new_directory}/"
      path << "#{"d" * 199}/" while path.size < length
      directory = { "HEAPLINE_DIR" => path[0, length - 1] }
      assert_goes_on(ruby(script(TEXT)), length.to_s, env: directory, says: /File name too long: counts/)
      assert_empty Dir.children(above)
    end
  end

  # All commands that run a program, with their files, where paths are as long as they can be.
  def test_a_working_directory_whose_name_is_long
    path = new_directory
    path += "/#{"d" * [200, 3980 - path.size].min}" while path.size < 3970
    FileUtils.mkdir_p(path)
    long = clean_environment.merge("TMPDIR" => path, "HEAPLINE_DIR" => new_directory, "PWD" => nil)
    [%w[run -o r.json], %w[leaks -o r.txt], %w[record -o r.hlc], %w[test -o r]].each do |words|
      command = [RbConfig.ruby, Heapline::TestHelper::EXE, *words, "--", *ruby(script(TEXT))]
      _, said, status = Open3.capture3(long, *command, chdir: path)
      assert_equal 3, status.exitstatus, said
      assert_empty said.lines.grep(/too long|Error|were no Ruby|none was Ruby/), words
      assert_path_exists File.join(path, words.last)
    end
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

  # A forked child takes over later what it inherited: then there may be no room any more. It goes on in memory.
  def test_a_child_that_finds_no_room_for_what_it_inherited
    text = <<~'RUBY'
      code = "->(a) {\n#{"  a * 2000\n" * 128}}"
      100.times { |n| RubyVM::InstructionSequence.compile(code, "/app/#{n}.rb").eval.call("s") }
      directory = ENV["HEAPLINE_DIR"]
      file = -> { directory && Dir["#{directory}/#{$$}-*.flight"].first }
      Process.wait(fork do
        $own = "o" * 5000
        rested = file.call ? IO.binread(file.call, 4, 16) == "\5\0\0\0" : directory.nil?
        begin
          directory && File.open("#{directory}/full", "w") { |io| loop { io.syswrite("f" * 4096) } }
        rescue SystemCallError
          nil
        end
        (Array.new(100) { "u" * 2000 }) && GC.start while file.call
        p [rested, Array.new(1000) { "v" * 900 }.size]
        exit!(5)
      end)
      p $?.exitstatus
      exit 3
    RUBY
    on_tmpfs("size=4m") do |directory|
      assert_goes_on(ruby(script(text)), "4 MB", env: { "HEAPLINE_DIR" => directory })
      assert_path_exists File.join(directory, "full")
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
      assert_equal "read-only file system", Heapline::Error.of_directory(directory)
    end
  end

  # Whatever runs as the same user may cut the flight file or write into it.
  SHARED = <<~'RUBY'
    file, = Dir["#{ENV["HEAPLINE_DIR"]}/#{$$}-*.flight"]
    $kept = Array.new(1000) { "x" * 2000 }
    how, seed = ARGV
    how == "cut" ? File.truncate(file, seed.to_i) : File.open(file, "r+b") do |io|
      random = Random.new(seed.to_i)
      300.times { io.pos = random.rand(200 * 4096) & ~7; io.write(random.bytes(8 * (1 + random.rand(64)))) }
    end if file
    threads = Array.new(4) { Thread.new { Array.new(1000) { |i| eval("'y' * (i % 3000)", nil, "f#{i}", 1) }.size } }
    p threads.sum(&:value)
    GC.start
    Process.wait(fork { p Array.new(1000) { "z" * 900 }.size; exit!(4) })
    p $?.exitstatus
    exit 3
  RUBY

  def test_a_flight_file_that_is_cut
    ["keep", "keep,objects", "keep,blocks"].each do |heapline|
      [0, 4096, 40_960, 400_000].each do |size|
        says = /cut the flight file of process \d+/ if size < 400_000 # where heapline grows it is made longer again
        assert_goes_on(ruby(script(SHARED), "cut", size.to_s), "#{heapline}, #{size}", heapline: heapline, says: says)
      end
    end
  end

  def test_a_flight_file_that_is_written_over
    ["keep", "keep,objects", "keep,blocks"].each do |heapline|
      FlightRun.torture(3, 10, 100).times do |seed|
        assert_goes_on(ruby(script(SHARED), "scribble", seed.to_s), "#{heapline}, seed #{seed}", heapline: heapline)
      end
    end
  end

  # heapline's handler for its own files is in between: the program must not be able to tell.
  def test_files_of_the_program_s_own_that_are_cut
    extension = NativePrograms.extension("own_bus")
    %w[siginfo plain once signal sent ignored].each do |what|
      run = assert_same_behaviour(ruby("-r", extension, "-e", "OwnBus.run(ARGV[0])", what), what)
      refute_empty run.output, what
    end
    %w[default ruby].each do |what|
      command = ruby("-r", extension, "-e", "Process.setrlimit(:CORE, 0); OwnBus.run(ARGV[0])", what)
      assert_equal plain(command).seen.values_at(:output, :signal), flight(command).seen.values_at(:output, :signal)
    end
  end

  private

  # Number of the failing allocation => what came of it: plain, plain with each block 8 bytes longer, under heapline.
  def outcomes_without_and_with(text)
    failing = NativePrograms.library("failing")
    runs = [plain(ruby(script(text)), env: { "LD_PRELOAD" => failing }),
            plain(ruby(script(text)), env: { "LD_PRELOAD" => failing, "FAILING_LONGER" => "8" }),
            flight(ruby(script(text)), preload: [failing], heapline: "")]
    runs.map { |run| run.output.lines(chomp: true).to_h { |line| line.split(" ", 2) } }
  end

  # Same output and status as without heapline; on standard error nothing, or one line of heapline's own.
  def assert_goes_on(command, what, says: nil, **options)
    without = plain(command)
    with = flight(command, **options)
    assert_equal without.seen.except(:error), with.seen.except(:error), "#{what}: #{with.error}"
    more = with.error.delete_prefix(without.error)
    assert_operator more.lines.size, :<=, 1, "#{what} #{more}"
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
