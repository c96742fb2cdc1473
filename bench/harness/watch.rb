# frozen_string_literal: true

# Watches the accounted process PID until it ends: ruby watch.rb PID DIRECTORY. A growth log with a line a second in
# DIRECTORY, `heapline top` on a terminal of its own, and `heapline rss` once a second.
$LOAD_PATH.unshift(File.expand_path("../../lib", __dir__))
require "pty"
require "rbconfig"
require "heapline/accounting/flight_directory"

HEAPLINE = [RbConfig.ruby, File.expand_path("../../exe/heapline", __dir__)].freeze
pid, scratch = ARGV
process = Heapline::Accounting::ProcessIdentity.of(Integer(pid)) or exit
directory = Heapline::Accounting::FlightDirectory.new
sleep 0.02 until directory.find(process.pid)&.alive? || !process.alive?
exit unless process.alive?

Process.detach(Process.spawn(*HEAPLINE, "log", pid, "--every", "1", "-o", File.join(scratch, "log-%p")))
Thread.new do
  loop do
    system(*HEAPLINE, "rss", pid, out: File::NULL, err: File::NULL)
    sleep 1
  end
end
PTY.spawn({ "TERM" => "xterm" }, *HEAPLINE, "top", pid) do |screen, _keys, _top|
  loop { screen.readpartial(65_536) }
rescue Errno::EIO, EOFError
  nil # the process has ended, and so has top
end
