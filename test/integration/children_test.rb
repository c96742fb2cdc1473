# frozen_string_literal: true

require "English"
require "test_helper"
require "support/flight_run"

# Children of every kind behave as without heapline: same output, same exit codes; none that is not Ruby leaves a file.
class ChildrenTest < Minitest::Test
  include FlightRun

  PRELUDE = "$stdout.sync = true\ndef try(*c) = (puts [system(*c), $?.exitstatus, $?.termsig].inspect)\n"

  def test_ways_to_start_a_child
    children = NativePrograms.extension("children")
    run = assert_same_children(<<~RUBY)
      require #{children.inspect}
      %i[vfork spawn system].each do |way|
        puts [way, Children.public_send(way, "echo out; echo err >&2; exit 5"), Children.public_send(way, "kill -9 $$")].inspect
      end
      try "echo system; exit 3"
      try "/nowhere/at/all"
      puts `echo captured`, $?.exitstatus
      puts IO.popen(["cat"], "r+") { |io| io.write "through a pipe"; io.close_write; io.read }
      pid = spawn({ "VALUE" => "given" }, "echo $VALUE", unsetenv_others: true)
      Process.wait pid
      puts $?.exitstatus
      pid = fork { exec "sh", "-c", "exit 9" }
      Process.wait pid
      puts $?.exitstatus
      pid = fork { $stdout.puts "forked"; Process.kill(:TERM, $$); sleep }
      Process.wait pid
      puts $?.termsig
      pid = fork { abort "aborted" }
      Process.wait pid
      puts $?.exitstatus
    RUBY
    assert_equal 1, run.paths.size - forked_that_stay(run), "the program's own"
  end

  def test_programs_that_are_not_ruby
    commands = { "python3" => "python3 -c 'print(sum(range(10)))'", "perl" => "perl -e 'print qq(perl\\n); exit 4'",
                 "node" => "node -e 'console.log([1, 2].map(x => x * 2).join())'", "gcc" => "gcc -dumpversion",
                 "bash" => "bash -c 'x=$(echo sub); echo $x; exit 2'", "go" => "go version", "git" => "git --version" }
    present = commands.select { |name, _| system("command -v #{name} >/dev/null") }
    run = assert_same_children(present.values.map { |command| "try #{command.inspect}\n" }.join)
    assert_equal 1, run.paths.size
  end

  def test_a_static_program
    path = begin
      NativePrograms.program("static_child", "-static")
    rescue RuntimeError => e
      skip "no static libc: #{e.message.lines.last}"
    end
    run = assert_same_children("try #{path.inspect}\n")
    assert_includes run.output, "static 1 named"
  end

  # The linker ignores the preload there, or heapline finds AT_SECURE set.
  def test_a_setuid_program
    program = %w[/usr/bin/su /bin/su /usr/bin/passwd].find { |path| File.setuid?(path) }
    skip "no setuid program here" unless program

    text = "try '#{program} --help'\n"
    if Process.uid.zero?
      text += "pid = fork { Process::UID.change_privilege(65_534); exec #{program.inspect}, '--help' }\n" \
              "Process.wait(pid)\nputs $?.exitstatus\n"
    end
    assert_same_children(text)
  end

  def test_as_another_user
    skip "only root can become another user" unless Process.uid.zero?
    skip "the checkout lies where another user cannot read it" unless readable_by_all?(Heapline::TestHelper::CORE)

    run = assert_same_children(<<~RUBY, heapline: "keep,quiet") # or it says that nobody has no directory
      pid = fork do
        Process::GID.change_privilege(65_534)
        Process::UID.change_privilege(65_534)
        $own = "n" * 100_000
        puts `id -u`, $own.size
        pid = fork { puts "child of nobody" }
        Process.wait(pid)
        exit 6
      end
      Process.wait pid
      puts $?.exitstatus
    RUBY
    assert_includes run.output, "65534"
  end

  def test_another_ruby
    others = Dir["/usr/bin/ruby*", "/usr/local/bin/ruby", "/opt/*/bin/ruby"].grep(/ruby[0-9.]*\z/)
    skip "no other Ruby" if others.empty?

    run = assert_same_children(others.map do |ruby|
      "try #{"#{ruby} -e 'a = (1..1000).map(&:to_s); puts a.size'".inspect}\n"
    end.join)
    run.snapshots.each { |snapshot| assert_empty snapshot.failures }
  end

  def test_ruby_children_are_followed
    run = fly("system(#{RbConfig.ruby.inspect}, '--disable=gems', '-e', '$k = %q(k) * 300_000; exit!(0)'); exit!(0)")
    assert_equal 2, run.snapshots.size
    child = run.snapshots.last
    assert_equal run.status.pid, child.parent
    assert_nil child.forked_from
    assert(child.any? { |site| site.location.to_s == "-e:1" && site.live_bytes >= 300_000 })
  end

  private

  def readable_by_all?(path)
    File.world_readable?(path) && reachable_by_all?(File.dirname(path))
  end

  def reachable_by_all?(folder)
    File.stat(folder).mode.anybits?(0o001) && (folder == "/" || reachable_by_all?(File.dirname(folder)))
  end

  # Only Ruby leaves files; those of forked children are kept too.
  def forked_that_stay(run)
    run.snapshots.count(&:forked_from)
  end

  def assert_same_children(text, **options)
    run = assert_same_behaviour(ruby(script(PRELUDE + text)), **options)
    assert run.status.success?, run.error
    run
  end
end
