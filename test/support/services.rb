# frozen_string_literal: true

require "json"
require "net/http"
require "rbconfig"
require "socket"
require "tmpdir"

# Servers that a test starts as processes of their own. They listen on ports that the system chooses, and end with the
# test, with all that they started.
module Services
  # pid; the file that has what it said
  Service = Struct.new(:pid, :log, keyword_init: true) do
    def said
      File.read(log)
    end
  end

  def teardown
    @services&.each { |service| end_service(service) }
    @services&.each { |service| warn "#{name}: service #{service.pid} said:", service.said } unless passed?
    FileUtils.rm_rf(@place) if @place
    super
  end

  # A directory for this test.
  def place(*names)
    @place ||= File.realpath(Dir.mktmpdir("heapline-test"))
    File.join(@place, *names)
  end

  # Start a command.
  def launch(*command, env: {})
    @services ||= []
    log = place("service-#{@services.size}.log")
    pid = Process.spawn(env, *command, in: File::NULL, out: log, err: %i[child out], pgroup: true)
    Service.new(pid: pid, log: log).tap { |service| @services << service }
  end

  # What the pattern's group caught in what the service said.
  def said(service, pattern)
    await_service(service, "it did not say #{pattern.inspect}") { service.said[pattern, 1] }
  end

  # The block's first true value, as long as the service runs.
  def await_service(service, message)
    await("#{message}:\n#{service.said}") do
      flunk "the service ended:\n#{service.said}" if Process.wait(service.pid, Process::WNOHANG)
      yield
    end
  end

  # GET → Net::HTTPResponse
  def get(address, token: nil, **headers)
    uri = URI(address)
    request = Net::HTTP::Get.new(uri, headers.transform_keys(&:to_s))
    request["Authorization"] = "Bearer #{token}" if token
    patience = Heapline::TestHelper::PATIENCE
    Net::HTTP.start(uri.host, uri.port, read_timeout: patience, open_timeout: patience) { |http| http.request(request) }
  end

  # Ruby and its gems, the processes' flight files in the test's own directory.
  def surroundings(**more)
    plain_environment(HEAPLINE_DIR: place("flights"), GEM_PATH: Gem.path.join(":"), RUBYOPT: nil, BUNDLE_GEMFILE: nil,
                      HEAPLINE_TOKEN: nil, LANG: "C.UTF-8", **more)
  end

  def heapline_command(*words)
    [RbConfig.ruby, Heapline::TestHelper::EXE, *words]
  end

  private

  def end_service(service)
    Process.kill(:KILL, -service.pid)
    Process.wait(service.pid)
  rescue Errno::ESRCH, Errno::ECHILD
    nil
  end
end
