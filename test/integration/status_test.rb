# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "heapline/cli"
require "heapline/command/base"
require "shellwords"

# What a program ended with is what its caller sees, whatever happens to heapline's own output: every command that runs
# one × every way in which our output can fail × every way in which a program can end.
class StatusTest < Minitest::Test
  include FlightRun

  # The commands that run a program, as the command line's own table has them.
  SUPERVISING = Heapline::CLI::COMMANDS.keys.select do |name|
    Heapline::CLI.command(name)::USAGE_LINE.include?("COMMAND [ARGUMENTS]")
  end

  # For each the options that make it write something or do something else; OUT is a path.
  VARIANTS = {
    "run" => ["", "-o OUT", "-o OUT --quiet --keep", "--log OUT", "--mwrap", "--objects --blocks"],
    "test" => ["", "-o OUT", "--fail-on growth,leaks"],
    "leaks" => ["", "-o OUT --format html", "--show-reachable --format json"],
    "record" => ["-o OUT", "-o OUT --follow --native --objects", "-o OUT --duration 0.1"]
  }.freeze

  ENDS = { "ok" => "exit 0", "eleven" => "exit 11", "exit!" => "exit!(5)", "raise" => "raise 'uncaught'",
           "killed" => "Process.kill(:KILL, $$); sleep", "ended" => "Process.kill(:TERM, $$); sleep",
           "crashed" => "Process.kill(:SEGV, $$); sleep",
           "aborted" => "Process.abort" }.transform_values { |code| "$kept = 'k' * 10_000; #{code}" }.freeze

  # How our output fails: what spawn gets (:dead: a pipe whose reader has gone), the path of OUT, words before.
  FAILURES = {
    "nothing" => {}, "stdin closed" => { in: :close }, "stdout closed" => { out: :close },
    "stderr closed" => { err: :close }, "all closed" => { in: :close, out: :close, err: :close },
    "stdout unread" => { out: :dead }, "stderr unread" => { err: :dead }, "both unread" => { out: :dead, err: :dead },
    "stdout full" => { out: "/dev/full" }, "stderr full" => { err: "/dev/full" },
    "both full" => { out: "/dev/full", err: "/dev/full" }, "files limited" => { rlimit_fsize: 1024 },
    "directory deleted" => { before: ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh"], chdir: :own },
    "no directory" => { file: "missing/out" }, "a file for a directory" => { file: "program.rb/out" },
    "a directory" => { file: "directory" }, "a FIFO" => { file: "fifo" }, "a full device" => { file: "/dev/full" },
    "a full disk" => { file: "full/out" }, "a disk that cannot be written" => { file: "/proc/out" }
  }.freeze

  def setup
    super
    skip "what holds the status hangs on no Ruby's version: one Ruby shows it" if LEVEL.zero?
    ENDS.each { |name, code| script("File.write(ARGV.first, '')\n#{code}\n", name: "#{name}.rb") }
    Dir.mkdir(place("directory"))
    script("", name: "program.rb")
    File.mkfifo(place("fifo"))
    Dir.mkdir(place("full"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k,mode=700", "tmpfs", place("full")]
    @full = Process.uid.zero? && system(*mount, err: File::NULL)
    File.write(place("full/x"), "x" * 4096) if @full
  end

  def teardown
    system("umount", "-l", place("full")) if @full
    super
  end

  def test_every_command_that_runs_a_program_is_here
    assert_equal SUPERVISING.sort, VARIANTS.keys.sort
  end

  # All of it where there is time; else each failure with every other variant, the ends in turn.
  VARIANTS.each do |command, variants|
    define_method("test_#{command}_ends_as_its_program") do
      cases = variants.product(FAILURES.keys)
      cases = FlightRun::LEVEL == 2 ? cases.product(ENDS.keys) : chequered(cases, variants).zip(ENDS.keys.cycle)
      wrong = cases.filter_map { |words| difference(command, *words.flatten) }
      assert_empty wrong, wrong.join("\n")
    end
  end

  # A red suite stays red: `heapline test ruby suite.rb 2>&1 | head -1`.
  def test_a_suite_that_fails
    script(<<~RUBY, name: "suite.rb")
      require "minitest/autorun"
      class Suite < Minitest::Test
        def test_red = assert_equal(1, $kept = 2)
        def test_green = assert(true)
      end
    RUBY
    FAILURES.keys.grep(/closed|unread|full$|nothing/).each do |failure|
      command = [RbConfig.ruby, Heapline::TestHelper::EXE, "test", "--fail-on", "growth", "--", RbConfig.ruby]
      assert_equal 1, status(command, failure, "suite", gems: true).first, failure
      assert_match(/2 runs/, File.read(place("stdout"))) if failure == "nothing"
    end
  end

  # What heapline does inside the program, in at_exit blocks and around tests, may find no room for its words either.
  def test_what_goes_wrong_inside_the_program
    cases = [["run --mwrap", { "MWRAP" => "dump_path:#{place("fifo")}" }, %w[ok eleven]],
             ["run --mwrap", { "MWRAP" => "dump_path:/proc/none,dump_what:1" }, %w[ok eleven]]]
    cases.each do |words, env, endings|
      endings.product(["nothing", "stderr closed", "stderr unread", "both full"]).each do |ending, failure|
        command = [RbConfig.ruby, Heapline::TestHelper::EXE, *words.split, "--"]
        assert_equal({ "ok" => 0, "eleven" => 11 }[ending], status(command, failure, ending, env: env).first,
                     [words, env, ending, failure].inspect)
      end
    end
  end

  private

  def place(name)
    File.expand_path(name, workplace)
  end

  # Of a board of variants and failures every other field.
  def chequered(cases, variants)
    cases.select { |variant, failure| (variants.index(variant) + FAILURES.keys.index(failure)).even? }
  end

  # What is not as it should be, in words; or nil.
  def difference(command, options, failure, ending)
    expected = (@plain ||= {})[[failure, ending]] ||= status([], failure, ending).first
    words = options.gsub("OUT", place(FAILURES[failure].fetch(:file, "out"))).split
    words = [RbConfig.ruby, Heapline::TestHelper::EXE, command, *words, "--"]
    found, begun, said = status(words, failure, ending)
    fine = begun ? found == expected || unsearched?(command, ending, failure, found) : refused?(options, failure, found)
    wordy = said.lines.grep(%r{(exe|lib)/heapline.*:in|^heapline: .*(undefined|Errno|key not found)})
    return if fine && wordy.empty?

    found = "#{found} and not begun" unless begun
    "heapline #{command} #{options}, #{failure}, #{ending}: #{found} in place of #{expected}; #{said[0, 600]}"
  end

  # What cannot be written is said before the program runs, where that is known.
  def refused?(options, failure, found)
    found == 3 && ((options.include?("OUT") && FAILURES[failure].key?(:file)) || failure == "directory deleted")
  end

  # `leaks` says so where it found no process to search (docs/leaks.md).
  def unsearched?(command, ending, failure, found)
    command == "leaks" && ending == "ok" && failure == "files limited" && found == 3
  end

  # [exit status as a shell has it, has the program begun?, what was said]
  def status(words, failure, ending, env: {}, gems: false)
    marker = place("begun")
    FileUtils.rm_f(marker)
    how = FAILURES[failure].except(:file)
    command = [*how[:before], *words, *(ruby unless gems), place("#{ending}.rb"), marker]
    ended = wait_for(Process.spawn(surroundings.merge(env), *command, **redirections(how.except(:before))), PATIENCE)
    said = File.exist?(place("err")) ? File.read(place("err")) : ""
    return ["it did not end", File.exist?(marker), said] unless ended

    [ended.exitstatus || (128 + ended.termsig), File.exist?(marker), said]
  end

  def redirections(how)
    own = new_directory if how[:chdir]
    FileUtils.rm_f(place("err"))
    { in: File::NULL, out: place("stdout"), err: place("err"), chdir: workplace, rlimit_core: 0 }
      .merge(how).merge(how[:chdir] ? { chdir: own } : {}).transform_values { |value| value == :dead ? unread : value }
  end

  # A pipe whose reader has gone.
  def unread
    @unread ||= IO.pipe.tap { |reader, _| reader.close }.last
  end

  def surroundings
    clean_environment.merge("HEAPLINE_DIR" => (@flights ||= new_directory), "TMPDIR" => workplace)
  end
end
