# frozen_string_literal: true

require "fileutils"
require "io/nonblock"
require "io/wait"
require "json"
require "tmpdir"

# A real Chromium without a window, driven through its own protocol (Chrome DevTools) over two pipes: no port, no other
# program. One browser serves all tests of a file, each with a page of its own.
class Browser
  PATHS = %w[/usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome].freeze
  # Seconds: only to end a test that hangs. A loaded machine may take long over starting a browser.
  PATIENCE = 120
  # The first lines keep it from talking to the network, the last from asking for what a small machine lacks.
  SWITCHES = %w[
    --headless --remote-debugging-pipe --no-first-run --disable-background-networking --disable-component-update
    --disable-sync --disable-quic --disable-default-apps --disable-extensions --metrics-recording-only
    --disable-gpu --disable-dev-shm-usage --hide-scrollbars --force-color-profile=srgb --disable-field-trial-config
  ].freeze

  class Failure < StandardError; end

  # Path of the browser, or nil.
  def self.path
    PATHS.find { |path| File.executable?(path) }
  end

  # One that has shown that it works. A machine that is out of processes for a moment lets a browser die at its start:
  # that says nothing of what is tested.
  def self.launch(attempts: 3)
    browser = new
    browser.page.close
    browser
  rescue Failure
    browser.close
    retry if (attempts -= 1).positive?
    raise
  end

  def initialize
    @profile = Dir.mktmpdir("heapline-browser")
    @number = 0
    @listeners = {}
    start
  end

  # A new page, as wide and high as said, with a dark or light system.
  def page(width: 1280, height: 900, dark: false)
    target = call("Target.createTarget", url: "about:blank")["targetId"]
    session = call("Target.attachToTarget", targetId: target, flatten: true)["sessionId"]
    Page.new(self, target, session).tap { |page| page.prepare(width, height, dark) }
  end

  # Send a command and return its result. Events that arrive meanwhile go to the page that they are of.
  def call(method, session: nil, **parameters)
    number = @number += 1
    message = { id: number, method: method, params: parameters }
    message[:sessionId] = session if session
    write(method, JSON.generate(message))
    loop do
      answer = receive(method)
      next dispatch(answer) unless answer["id"] == number
      raise Failure, "#{method}: #{answer["error"]["message"]}" if answer["error"]

      return answer["result"]
    end
  end

  # Take what the browser says until the block is true.
  def await_event(what)
    dispatch(receive(what)) until yield
  end

  # The block gets each event of a page.
  def listen(session, &block)
    @listeners[session] = block
  end

  def close
    @to.close
    Process.kill(:KILL, -@pid)
    Process.wait(@pid)
  rescue Errno::ESRCH, Errno::ECHILD
    nil
  ensure
    @from.close
    FileUtils.rm_rf(@profile)
  end

  private

  def start
    their_input, @to = IO.pipe
    @from, their_output = IO.pipe
    [their_input, their_output].each { |pipe| pipe.nonblock = false } # the browser expects blocking ones
    [@to, @from].each(&:binmode)
    switches = SWITCHES + (Process.uid.zero? ? ["--no-sandbox"] : [])
    @pid = Process.spawn({ "HOME" => @profile, "XDG_CACHE_HOME" => @profile, "XDG_CONFIG_HOME" => @profile },
                         self.class.path, *switches, "--user-data-dir=#{@profile}/data", "about:blank",
                         3 => their_input, 4 => their_output, in: File::NULL, out: File::NULL,
                         err: "#{@profile}/errors", pgroup: true)
    [their_input, their_output].each(&:close)
  end

  def write(method, message)
    @to.write(message, "\0")
  rescue Errno::EPIPE
    raise Failure, ended(method)
  end

  def ended(method)
    "#{method}: the browser ended\n#{File.read("#{@profile}/errors")}"
  end

  def receive(method)
    raise Failure, "#{method}: no answer within #{PATIENCE} s" unless @from.wait_readable(PATIENCE)

    message = @from.gets("\0") or raise Failure, ended(method)
    JSON.parse(message.chomp("\0"))
  end

  def dispatch(event)
    @listeners[event["sessionId"]]&.call(event)
  end

  # One page of a browser. Keys and clicks are those of a person: the browser makes the events.
  class Page
    KEYS = { "Enter" => 13, "Escape" => 27, "Backspace" => 8, "Tab" => 9, "ArrowLeft" => 37, "ArrowUp" => 38,
             "ArrowRight" => 39, "ArrowDown" => 40, "PageDown" => 34, "PageUp" => 33, "End" => 35, "Home" => 36 }.freeze
    # What the console and the policy complained of, and addresses that the page asked for, other than its own.
    attr_reader :complaints, :requests

    def initialize(browser, target, session)
      @browser = browser
      @target = target
      @session = session
      @complaints = []
      @requests = []
      browser.listen(session) { |event| note(event) }
    end

    def prepare(width, height, dark)
      %w[Page Runtime Log Network].each { |domain| call("#{domain}.enable") }
      call("Emulation.setDeviceMetricsOverride", width: width, height: height, deviceScaleFactor: 1, mobile: false)
      call("Emulation.setFocusEmulationEnabled", enabled: true) # another page may be in front
      # Without motion, so that what is looked at stands still.
      preferences = { "prefers-color-scheme" => dark ? "dark" : "light", "prefers-reduced-motion" => "reduce" }
      call("Emulation.setEmulatedMedia", features: preferences.map { |name, value| { name: name, value: value } })
    end

    # Open a file and, where it has a script, wait until the report has put itself together.
    def open(path, script: true)
      @loaded = false
      call("Page.navigate", url: "file://#{path}")
      @browser.await_event("opening #{path}") { @loaded }
      await("document.documentElement.dataset.ready === 'true'") if script
    end

    # The value of a JavaScript expression, as JSON knows it.
    def value(expression)
      answer = call("Runtime.evaluate", expression: expression, returnByValue: true, awaitPromise: true)
      fault = answer["exceptionDetails"]
      raise Failure, "#{expression}: #{fault.dig("exception", "description") || fault["text"]}" if fault

      answer["result"]["value"]
    end

    # Wait until the expression is true.
    def await(expression)
      limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
      until value("Boolean(#{expression})")
        raise Failure, "not true within #{PATIENCE} s: #{expression}" if now > limit

        IO.select(nil, nil, nil, 0.02)
      end
    end

    def press(key)
      code = { key: key, code: key, windowsVirtualKeyCode: KEYS[key] || key.ord }
      text = { "Enter" => "\r" }.fetch(key) { key if key.length == 1 }
      call("Input.dispatchKeyEvent", type: "keyDown", **code, **(text ? { text: text } : {}))
      call("Input.dispatchKeyEvent", type: "keyUp", **code)
    end

    def type(text)
      call("Input.insertText", text: text)
    end

    # Click in the middle of the first element that the selector names.
    def click(selector)
      x, y = value(<<~JS)
        (() => { const all = document.querySelector(#{JSON.generate(selector)});
          all.scrollIntoView({ block: "center", behavior: "instant" });
          const box = all.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + Math.min(box.height / 2, 10)]; })()
      JS
      at = { x: x, y: y, button: "left", clickCount: 1 }
      call("Input.dispatchMouseEvent", type: "mousePressed", **at)
      call("Input.dispatchMouseEvent", type: "mouseReleased", **at)
    end

    # Write a picture of what is in view.
    def screenshot(path, **options)
      File.binwrite(path, call("Page.captureScreenshot", format: "png", **options)["data"].unpack1("m"))
    end

    def close
      @browser.call("Target.closeTarget", targetId: @target)
    end

    private

    def call(method, **parameters)
      @browser.call(method, session: @session, **parameters)
    end

    def note(event)
      case event["method"]
      when "Runtime.exceptionThrown" then @complaints << event.dig("params", "exceptionDetails").to_s
      when "Runtime.consoleAPICalled", "Log.entryAdded" then @complaints << event["params"].to_s
      when "Network.requestWillBeSent" then @requests << event.dig("params", "request", "url")
      when "Page.loadEventFired" then @loaded = true
      when "Page.javascriptDialogOpening" then @complaints << "a dialog: #{event["params"]}"
      end
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
