# frozen_string_literal: true

require "test_helper"
require "json"
require "rbconfig"
require "support/accounted"
require "support/keeping"

# `heapline attach` and a process in a container, made by a runtime that Docker and Kubernetes use, with the
# capabilities that Docker gives: from outside, and from inside the container.
class AttachContainerTest < Minitest::Test
  include Accounted
  include Keeping

  CAPABILITIES = %w[CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE
                    SYS_CHROOT KILL AUDIT_WRITE].map { |name| "CAP_#{name}" }.freeze
  # Of this machine's files a container sees these.
  SEEN = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", RbConfig::CONFIG["prefix"]].uniq.freeze
  def setup
    super
    skip "only root may make a container" unless Process.euid.zero?
    skip "runc is not installed" unless system("runc", "--version", out: File::NULL)
    skip "no container can be made here: #{@problem}" unless made?
  end

  def teardown
    runc("delete", "--force", container) if @directory
    super
  end

  def test_from_outside
    start_container
    assert_match(/\Aattached to #{pid} \(ruby[\d.]*\): paused .* were there before/, say("attach", *PATIENTLY, pid))
    tell(2_000_000)
    report = JSON.parse(say("report", "--json", "--top", "0", pid))
    assert_includes kept(2_000_000), figure(report, "/app/program.rb:3", "live_bytes")
    listed = JSON.parse(say("ps", "--json")).fetch("processes").select { |row| row["pid"] == pid.to_i }
    assert_equal(["running"], listed.map { |row| row["state"] })
    assert_match(/wrote .*: process #{pid} \(ruby[\d.]*\)/, say("dump", *PATIENTLY, pid, "-o", path("dumped.core")))
    assert_includes say("core", path("dumped.core"), "--top", "3"), "/app/program.rb:3"
    assert_match(/\Adetached from #{pid}/, say("detach", *PATIENTLY, pid))
    ends
  end

  # Process 1 has all capabilities that the command has.
  def test_from_inside
    start_container(Heapline::TestHelper::ROOT)
    assert_match(/\Aattached to 1 \(ruby[\d.]*\): paused .* were there before/, inside("attach", *PATIENTLY, "1"))
    tell(2_000_000)
    report = JSON.parse(inside("report", "--json", "--top", "0", "1"))
    assert_includes kept(2_000_000), figure(report, "/app/program.rb:3", "live_bytes")
    assert_match(/\Adetached from 1/, inside("detach", *PATIENTLY, "1"))
    ends
  end

  private

  def container
    File.basename(@directory)
  end

  def runc(*words)
    Open3.capture2e("runc", "--root", path("runc"), *words)
  end

  def made?
    write_bundle(["true"], [])
    @problem, status = runc("run", "--bundle", path("bundle"), container)
    status.success?
  end

  # seen: folders of this machine that the container sees, too
  def start_container(*seen)
    write_bundle([RbConfig.ruby, "/app/program.rb"], seen)
    inside, @input = IO.pipe
    @output, outside = IO.pipe
    command = ["runc", "--root", path("runc"), "run", "--bundle", path("bundle"), container]
    @processes << (@runs = Process.spawn(*command, in: inside, out: outside))
    [inside, outside].each(&:close)
    assert_equal "ready\n", @output.gets
  end

  def pid
    @pid ||= JSON.parse(runc("state", container).first).fetch("pid").to_s
  end

  def tell(bytes)
    @input.puts(bytes)
    assert_match(/\A\d+\n\z/, @output.gets)
  end

  def ends
    @input.close
    assert_equal "end\n", @output.read
    assert_predicate Process.wait2(@runs).last, :success?
  end

  def say(*words)
    out, err, status = heapline(*words)
    assert status.success?, err
    out
  end

  def inside(*words)
    out, status = runc("exec", container, RbConfig.ruby, Heapline::TestHelper::EXE, *words)
    assert status.success?, out
    out
  end

  def write_bundle(command, seen)
    FileUtils.mkdir_p([path("bundle/rootfs"), path("app")])
    File.write(path("app/program.rb"), Keeping.program)
    File.write(path("bundle/config.json"), JSON.generate(configuration(command, seen)))
  end

  def configuration(command, seen)
    process = { user: { uid: 0, gid: 0 }, args: command, env: ["PATH=#{ENV.fetch("PATH")}", "LANG=C.UTF-8"], cwd: "/",
                capabilities: %w[bounding effective permitted].to_h { |kind| [kind, CAPABILITIES] } }
    { ociVersion: "1.0.2", root: { path: "rootfs" }, process: process, mounts: mounts(seen),
      linux: { namespaces: %w[pid ipc uts mount].map { |type| { type: type } } } }
  end

  def mounts(seen)
    memory = %w[/dev /dev/shm /tmp].map { |place| { destination: place, type: "tmpfs", source: "tmpfs" } }
    folders = [*SEEN, *seen].select { |place| File.exist?(place) }.to_h { |place| [place, place] }
    bound = folders.merge(path("app") => "/app").map do |from, to|
      { destination: to, type: "bind", source: from, options: %w[rbind ro] }
    end
    [{ destination: "/proc", type: "proc", source: "proc" }, *memory, *bound]
  end
end
