# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require "rubygems"
require "tmpdir"
require "heapline/accounting/flight"
require "heapline/native"
require_relative "live_identity"
require_relative "native_programs"

# Runs programs under the core, with a flight directory of the test's own, and hands back what they printed, how they
# ended and what was counted. A program that does not end in time is killed, and the test fails with what it said.
module FlightRun
  include LiveIdentity

  # Of Ruby, for the programs: a JIT, where tests are to run with one.
  SWITCHES = ENV.fetch("HEAPLINE_TEST_SWITCHES", "").split.freeze
  DEADLINE = Heapline::TestHelper::PATIENCE
  # How much torture tests do: HEAPLINE_TORTURE is short (the matrix), unset or full.
  LEVEL = { "short" => 0, "full" => 2 }.fetch(ENV.fetch("HEAPLINE_TORTURE", ""), 1)

  # Where fiddle lies if this Ruby brings it as a gem (from 4.0 on): most programs here run without RubyGems.
  FIDDLE = Dir[File.join(Gem.default_dir, "specifications", "fiddle-*.gemspec")].first(1).flat_map do |file|
    Gem::Specification.load(file).full_require_paths
  end

  # The count for this level.
  def self.torture(short, usual, full)
    [short, usual, full][LEVEL]
  end

  # What a program did. output, error: String; status: Process::Status; directory: where its flight files lie.
  Run = Struct.new(:output, :error, :status, :directory, keyword_init: true) do
    # Snapshots of all processes whose files are there, in the order of their start.
    def snapshots
      paths.map { |path| Heapline::Accounting::Flight.read(path) }.sort_by(&:started_at)
    end

    # The snapshot of the process that was started; only that one where pid is given.
    def snapshot(pid = status.pid)
      path = paths.find { |file| File.basename(file).start_with?("#{pid}-") }
      path && Heapline::Accounting::Flight.read(path)
    end

    def paths
      Dir[File.join(directory, "*.flight")]
    end

    # What a user would see of it.
    def seen
      { output: output, error: error, exit: status.exitstatus, signal: status.termsig }
    end
  end

  def teardown
    @workplaces&.each { |path| FileUtils.rm_rf(path) }
    super
  end

  # Of all tests: a signal that ends them keeps teardown from removing its own.
  WORKPLACES = [] # rubocop:disable Style/MutableConstant
  Minitest.after_run { FileUtils.rm_rf(WORKPLACES) }

  # A directory of this test's own, in memory where that is possible.
  def workplace
    @workplace ||= new_directory
  end

  def new_directory
    base = File.writable?("/dev/shm") ? "/dev/shm" : Dir.tmpdir
    path = File.realpath(Dir.mktmpdir("heapline-test", base))
    WORKPLACES << path
    (@workplaces ||= []) << path
    path
  end

  # A file of this test's own with Ruby code; its path.
  def script(text, name: "program.rb")
    path = File.join(workplace, name)
    File.write(path, text)
    path
  end

  def ruby(*arguments, gems: false)
    [RbConfig.ruby, *SWITCHES, *("--disable=gems" unless gems), *arguments]
  end

  # Run Ruby code under the core. options: switches of Ruby; the others as in `flight`.
  def fly(text, *arguments, options: [], gems: false, **others, &at_stop)
    flight(ruby(*options, script(text), *arguments, gems: gems), **others, &at_stop)
  end

  # Run a command under the core. preload: further entries behind the core's; before: entries before it.
  def flight(command, heapline: "keep", preload: [], before: [], env: {}, **others, &at_stop)
    directory = new_directory
    list = [*before, Heapline::TestHelper::CORE, *preload].join(":")
    surroundings = { "LD_PRELOAD" => list, "HEAPLINE" => heapline, "HEAPLINE_DIR" => directory }.merge(env)
    watch(command, directory: surroundings["HEAPLINE_DIR"], env: surroundings, **others, &at_stop)
  end

  # Run a command without the core.
  def plain(command, env: {}, **others)
    watch(command, directory: nil, env: env, **others)
  end

  # The site of a line of the program, or nil.
  def site_at(snapshot, line)
    snapshot.find { |site| site.location.lineno == line && site.location.path.end_with?("program.rb") }
  end

  # So many blocks and bytes were planted at the site. What the VM itself may take at the line, pages of its heap and
  # what a GC needs, are few blocks.
  def assert_planted(blocks, bytes, site, figure)
    assert_includes 0..200_000, site.public_send(figure) - bytes
    assert_includes 0..20, site.public_send(figure.to_s.sub("bytes", "blocks")) - blocks
  end

  # Run with and without the core; fail unless both look the same. Returns the run under the core.
  def assert_same_behaviour(command, message = nil, preload: [], heapline: "keep", **others)
    alone = { "LD_PRELOAD" => preload.join(":") } unless preload.empty?
    without = plain(command, **others, env: (others[:env] || {}).merge(alone || {}))
    with = flight(command, preload: preload, heapline: heapline, **others)
    assert_equal without.seen, with.seen, message
    with
  end

  private

  # Run to the end. Each time the program stops itself (SIGSTOP), the block gets its pid, and the program goes on.
  def watch(command, directory:, env: {}, deadline: DEADLINE, input: File::NULL, **options, &at_stop)
    out, err = %w[out err].map { |name| File.join(new_directory, name) }
    pid = Process.spawn(clean_environment.merge(env), *command, in: input, out: out, err: err, pgroup: true, **options)
    status = wait_for(pid, deadline, &at_stop)
    run = Run.new(output: File.binread(out), error: File.binread(err), status: status, directory: directory)
    flunk "#{command.join(" ")} did not end within #{deadline} s:\n#{run.output}\n#{run.error}" unless status
    run
  ensure
    end_group(pid) if pid && !status
  end

  def clean_environment
    bundled = ENV.keys.grep(/\A(BUNDLE|BUNDLER|GEM)_/)
    libraries = { "RUBYLIB" => (FIDDLE.join(":") unless FIDDLE.empty?) }
    [*bundled, "RUBYOPT"].to_h { |name| [name, nil] }.merge(libraries, plain_environment)
  end

  # The status, or nil after the deadline.
  def wait_for(pid, deadline)
    limit = now + deadline
    loop do
      _, status = Process.wait2(pid, Process::WNOHANG | Process::WUNTRACED)
      if status&.stopped?
        yield pid
        Process.kill(:CONT, pid)
      elsif status
        return status
      elsif now > limit
        return nil
      end
      IO.select(nil, nil, nil, 0.002)
    end
  end

  def end_group(pid)
    Process.kill(:KILL, -pid)
    Process.wait(pid)
  rescue Errno::ESRCH, Errno::ECHILD
    nil
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
