# frozen_string_literal: true

require "io/wait"
require "json"
require "open3"
require "rbconfig"
require "heapline/accounting/process_identity"
require_relative "live_identity"

# Runs the real command on real programs, with a flight directory of the test's own.
module Accounted
  include LiveIdentity

  def setup
    super
    skip "the core is not compiled: rake compile" unless File.exist?(Heapline::TestHelper::CORE)
    @directory = Dir.mktmpdir("heapline-test")
    @processes = []
  end

  def teardown
    @processes&.reverse_each { |pid| stop(pid) } # children before their parents
    await("#{@directory} cannot be removed") { removed? } if @directory
    super
  end

  # Children of a program that was killed may still write as they end.
  def removed?
    FileUtils.remove_entry(@directory)
    true
  rescue Errno::ENOTEMPTY, Errno::ENOENT
    !File.exist?(@directory)
  end

  def path(name)
    File.join(@directory, name)
  end

  # A Ruby program of this test; its path.
  def program(source, name = "program.rb")
    File.write(path(name), source)
    path(name)
  end

  def heapline_command(*words)
    [RbConfig.ruby, Heapline::TestHelper::EXE, *words]
  end

  def environment(**more)
    plain_environment(HEAPLINE_DIR: File.join(@directory, "flights"), LANG: "C.UTF-8", COLUMNS: "120", **more)
  end

  # [stdout, stderr, Process::Status] of `heapline WORDS`.
  def heapline(*words, env: {}, **options)
    Open3.capture3(environment(**env), *heapline_command(*words), **options)
  end

  # Start `heapline --quiet OPTIONS ruby PROGRAM` and wait until it has written a line; [pid, that line].
  def start(file, *options)
    reader, writer = IO.pipe
    pid = Process.spawn(environment, *heapline_command("--quiet", *options, RbConfig.ruby, file), out: writer)
    writer.close
    @processes << pid
    assert reader.wait_readable(Heapline::TestHelper::PATIENCE), "the program wrote nothing"
    [pid, reader.gets.to_s.chomp]
  end

  # Not who was waited for: its number may be that of somebody else's process by now.
  def stop(pid)
    parent = Heapline::Accounting::ProcessIdentity.stat(pid)&.at(1).to_i
    return unless [Process.pid, *@processes].include?(parent)

    Process.kill(:KILL, pid)
    Process.wait(pid)
  rescue Errno::ESRCH, Errno::ECHILD
    nil
  end

  # The kernel's letter for what it does; "Z" also where it is gone.
  def state(pid)
    Heapline::Accounting::ProcessIdentity.stat(pid)&.first || "Z"
  end

  # Have a program stand still; it does when this returns.
  def halt(pid)
    Process.kill(:STOP, pid)
    Process.wait(pid, Process::WUNTRACED)
  end

  # The report of a PID or file as parsed JSON.
  def json_report(source, *options)
    out, err, status = heapline("report", "--json", *options, source.to_s)
    assert status.success?, err
    JSON.parse(out)
  end

  # The sum of a figure over the sites at "path:line".
  def figure(report, location, name)
    report["sites"].select { |site| site["location"] == location }.sum { |site| site[name] }
  end

  def flight_files
    Dir.glob(File.join(@directory, "flights", "*.flight"))
  end
end
