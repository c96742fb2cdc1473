# frozen_string_literal: true

# Runs a command; meanwhile attaches to a process of its tree that runs Ruby, or detaches from it, again and again, at
# moments that nothing determines. Ends as the command does.
require "heapline/attach/session"

RUBY = File.realpath(RbConfig.ruby)
PATIENCE = 0.2 # seconds for a safe point
counts = Hash.new(0)

def ruby?(pid)
  File.readlink("/proc/#{pid}/exe") == RUBY
rescue SystemCallError
  false
end

# All that descends from the process, as pids.
def descendants(root)
  parents = Dir.children("/proc").grep(/\A\d+\z/).to_h do |pid|
    [pid.to_i, Heapline::Accounting::ProcessIdentity.stat(pid.to_i)&.at(1).to_i]
  end
  found = [root]
  found.each { |parent| found.concat(parents.select { |_, above| above == parent }.keys) }
end

def detach(session)
  session.detach
rescue Heapline::Error
  nil # it has ended meanwhile, or came to no safe point
end

child = Process.spawn(*ARGV)
until (ended = Process.wait2(child, Process::WNOHANG))
  running = descendants(child).select { |one| ruby?(one) }
  if (pid = [running.first, running.sample].sample)
    session = Heapline::Attach::Session.new(pid, env: ENV, timeout: PATIENCE)
    begin
      session.attach({})
      counts[:attached] += 1
    rescue Heapline::Attach::Session::Nothing
      detach(session)
    rescue Heapline::Error
      counts[:refused] += 1
    end
  end
  sleep(rand * 0.05)
end
$stdout.syswrite("attached #{counts[:attached]} times, refused #{counts[:refused]}\n")
status = ended.last
status.signaled? ? Process.kill(status.termsig, Process.pid) : exit!(status.exitstatus)
