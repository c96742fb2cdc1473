# frozen_string_literal: true

require "test_helper"
require "shellwords"
require "heapline/accounting/process_identity"
require "support/accounted"
require "support/terminal_program"

module Heapline
  # `heapline top` on a real terminal over real processes. Each wait is for something on the screen.
  class TopTest < Minitest::Test
    include Accounted

    # Holds what line 1 takes, and a little more with each turn.
    GROWING = <<~RUBY
      $held = Array.new(1000) { "x" * 2000 }
      $more = []
      $stdout.puts "ready"
      $stdout.flush
      loop { $more << ("y" * 5000); sleep 0.02 }
    RUBY
    # Two workers; they end when the master does.
    CLUSTER = <<~RUBY
      $inherited = Array.new(500) { "x" * 2000 }
      $life, $held = IO.pipe
      def work = ($held.close; $own = Array.new(300) { "y" * 2000 }; $life.read; exit!)
      workers = Array.new(2) { fork { work } }
      $stdout.puts workers.join(" ")
      $stdout.flush
      sleep
    RUBY

    def setup
      super
      skip "no terminal can be opened here" unless TerminalProgram.possible?
      @programs = []
    end

    def teardown
      @programs&.each(&:close)
      super
    end

    # `heapline top WORDS` on a terminal.
    def top(*words, rows: 24, columns: 150, **env)
      on_terminal(*heapline_command("top", "--every", "0.1", *words), rows: rows, columns: columns, **env)
    end

    def on_terminal(*command, rows: 24, columns: 150, **env)
      variables = environment(TERM: "xterm", NO_COLOR: nil, **env).merge("COLUMNS" => nil)
      @programs << TerminalProgram.new(variables, *command, rows: rows, columns: columns)
      @programs.last
    end

    # `heapline top PID` as words for a shell.
    def shell(pid)
      Shellwords.join(heapline_command("top", pid.to_s))
    end

    # The screen, once it shows this.
    def see(program, pattern)
      await_screen(program, pattern.inspect) { pattern.match?(program.screen) }
    end

    def await_screen(program, what)
      limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
      until yield
        flunk "no #{what} on\n#{program.screen}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit
        program.wait_for_output
      end
      program.screen
    end

    def see_end(program)
      await_screen(program, "end") { program.gone? && program.status }
      program.status
    end

    # End a process that is not a child of this one. What it still does in the test's directory is over then.
    def end_other(pid)
      identity = Accounting::ProcessIdentity.of(pid) or return
      Process.kill(:KILL, pid)
      await("process #{pid} lives on") { !identity.alive? }
    rescue Errno::ESRCH
      nil
    end

    def test_a_growing_process_and_the_keys
      pid, = start(program(GROWING))
      terminal = top(pid.to_s)
      screen = see(terminal, /program\.rb:1/)
      assert_match(/heapline top · pid #{pid} ·/, screen)
      assert_match(/RSS .* live/, screen)
      assert_match(/growth▼/, screen)
      assert_predicate terminal, :alternate?
      see(terminal, /allocating .* calls.s/)

      terminal.type("b")
      see(terminal, /since your baseline/)
      see(terminal, /^>  *\d.*program\.rb:5/)
      terminal.type("B")
      see(terminal, /since the start/)
      terminal.type("r")
      see(terminal, %r{alloc/s▼})
      terminal.type("2")
      see(terminal, /\(application\)$/)
      terminal.type("1/program.rb:1\r")
      see(terminal, /1 line · filter: program\.rb:1/)
      terminal.type("\r")
      see(terminal, /live .* in 1,\d+ blocks/)
      see(terminal, /> 1  \$held = Array\.new\(1000\)/)
      terminal.type("\e")
      see(terminal, /filter: program\.rb:1/)
      terminal.type("\e")
      see(terminal, /\d{2,} lines/)
      terminal.type("?")
      see(terminal, /Any key goes back/)
      terminal.type("x ")
      see(terminal, / paused /)
      terminal.type("q")
      assert_equal 0, see_end(terminal).exitstatus
      refute_predicate terminal, :alternate?
    end

    def test_ruby_objects
      pid, = start(program("class Kept; end\n$held = Array.new(900) { Kept.new } # line 2\n#{GROWING}"), "--objects")
      terminal = top(pid.to_s)
      see(terminal, /program\.rb:3/)
      terminal.type("o")
      see(terminal, / objects .* class$/)
      terminal.type("/Kept\r")
      see(terminal, /^>.* 900 .* Kept$/)
      terminal.type("\r")
      see(terminal, /class +location$/)
      see(terminal, /Kept +\S*program\.rb:2/)
      terminal.type("\e")
      terminal.type("\e")
      terminal.type("o")
      see(terminal, /program\.rb:3/)
      terminal.type("q")
      assert_equal 0, see_end(terminal).exitstatus
    end

    def test_the_terminal_is_given_back
      pid, = start(program(GROWING))
      ["q", "\x03"].each do |key|
        script = "trap : INT; stty -g >before; #{shell(pid)}; echo $? >status; stty -g >after; echo over"
        terminal = on_terminal("sh", "-c", "cd #{@directory}; #{script}")
        see(terminal, /growth▼/)
        terminal.type(key)
        await_screen(terminal, "end of top") { terminal.log.include?("over") }
        assert_equal "0", File.read(path("status")).chomp, key.inspect
        assert_equal File.read(path("before")), File.read(path("after"))
        assert_operator terminal.log.rindex("\e[?25h"), :>, terminal.log.rindex("\e[?25l")
      end
    end

    def test_stopped_with_control_z_and_continued
      pid, = start(program(GROWING))
      script = "set -m; stty -g >before; #{shell(pid)}; stty -g >between; echo halted; read answer; fg; echo over"
      terminal = on_terminal("sh", "-c", "cd #{@directory}; #{script}")
      see(terminal, /growth▼/)
      terminal.type("\x1a")
      await_screen(terminal, "the shell") { terminal.log.include?("halted") }
      refute_predicate terminal, :alternate?
      assert_equal File.read(path("before")), File.read(path("between"))
      terminal.type("\n")
      await_screen(terminal, "top again") { terminal.alternate? }
      see(terminal, /growth▼/)
      terminal.type("q")
      await_screen(terminal, "end") { terminal.log.include?("over") }
    end

    def test_signals_that_end_it
      pid, = start(program(GROWING))
      terminal = top(pid.to_s)
      see(terminal, /growth▼/)
      Process.kill(:TERM, terminal.pid)
      assert_equal Signal.list["TERM"], see_end(terminal).termsig
      refute_predicate terminal, :alternate?
    end

    def test_a_terminal_that_is_closed_ends_it
      pid, = start(program(GROWING))
      terminal = top(pid.to_s)
      see(terminal, /growth▼/)
      terminal.hang_up
      await("top goes on without a terminal") { terminal.status }
    end

    def test_resizing
      pid, = start(program(GROWING))
      terminal = top(pid.to_s, rows: 40, columns: 130)
      see(terminal, /trend.*location/)
      [[10, 40], [5, 20], [24, 80], [1, 1], [30, 120]].each do |rows, columns|
        terminal.resize(rows, columns)
        await_screen(terminal, "a frame of #{rows} lines") { !terminal.lines.last.strip.empty? } if columns > 1
      end
      see(terminal, /trend.*location.*\? keys  q quit\z/m)
    end

    def test_a_stopped_process_is_watched_as_well
      pid, = start(program(GROWING))
      halt(pid)
      terminal = top(pid.to_s)
      see(terminal, / stopped .*program\.rb:1/m)
      see(terminal, %r{allocating 0/s})
      Process.kill(:CONT, pid)
      await_screen(terminal, "life") { !terminal.screen.include?("stopped") }
    end

    def test_the_end_of_the_process_is_told
      pid, = start(program(GROWING))
      terminal = top(pid.to_s)
      see(terminal, /growth▼/)
      Process.kill(:KILL, pid)
      assert_equal 0, see_end(terminal).exitstatus
      refute_predicate terminal, :alternate?
      assert_match(/process #{pid} was killed .* heapline report #{pid}/, terminal.log)
      assert_match(/program\.rb:1/, terminal.log.split("\e[?1049l").last)
    end

    def test_a_tree_is_one_and_its_workers_are_found_by_name
      pid, workers = start(program(CLUSTER, "cluster.rb"))
      terminal = top("cluster.rb")
      see(terminal, /pid #{pid} and 2 forked/)
      see(terminal, / 1\.\d\d MB .*cluster\.rb:3/)
      terminal.type("m")
      see(terminal, /pid #{pid} ·/)
      terminal.type("m")
      see(terminal, /and 2 forked/)
      Process.kill(:KILL, workers.split.first.to_i)
      see(terminal, /and 1 forked/)
    ensure
      workers.to_s.split.each { |worker| end_other(worker.to_i) }
    end

    def test_all_processes_and_into_one
      pid, = start(program(GROWING))
      terminal = top
      see(terminal, /1 process$/)
      see(terminal, /^> *#{pid} .*ruby/)
      terminal.type("\r")
      see(terminal, /program\.rb:1/)
      Process.kill(:KILL, pid)
      see(terminal, /process #{pid}: killed/)
    end

    def test_without_colours_and_without_a_cursor
      pid, = start(program(GROWING))
      plain = top(pid.to_s, NO_COLOR: "1")
      see(plain, /^>/)
      refute_match(/\e\[\d+m/, plain.log)
      dumb = top(pid.to_s, TERM: "dumb")
      await_screen(dumb, "two frames") { dumb.log.scan("heapline top").size > 1 }
      refute_includes dumb.log, "\e"
    end

    # What top added up change by change, while the process ran, is what others read as a whole when it rests.
    def test_at_rest_the_report_and_the_metrics_say_the_same
      pid, = start(program(GROWING))
      observer = observer_of(pid)
      5.times do
        lived = observer.read.total.live_bytes
        await("it does not grow") { observer.read.total.live_bytes > lived }
      end
      Process.kill(:STOP, pid)
      await("it does not stop") { observer.read.stopped }
      reading = observer.read
      report = json_report(pid, "--top", "0")
      metrics, = heapline("report", "--format", "prometheus", "--top", "0", pid.to_s)
      SAME.each { |figure, series| assert_same_total(figure, series, reading.total, report, metrics) }
      expected = report["sites"].group_by { |site| site["location"] }
      rows = Top::Activity.new(reading).rows(:location).order(:live, nil).all
      assert_equal expected.keys.sort, rows.map(&:name).sort
      rows.each { |row| assert_same_row(row, expected.fetch(row.name)) }
    ensure
      observer&.close
    end

    def observer_of(pid)
      require "heapline/top/observer"
      directory = Accounting::FlightDirectory.new(environment)
      Top::Observer.new(directory, directory.find(pid))
    end

    SAME = { live_bytes: "live_bytes", live_blocks: "live_blocks", growth_bytes: "growth_bytes",
             retained_bytes: "retained_bytes", allocations: "allocations_total", frees: "frees_total",
             bytes_allocated: "allocated_bytes_total", bytes_freed: "freed_bytes_total",
             temporary: "temporary_frees_total" }.freeze

    def assert_same_total(figure, series, total, report, metrics)
      others = [report["totals"][figure.to_s], metrics[/^heapline_#{series}\{.*\} (\d+)$/, 1].to_i]
      assert_equal [total.public_send(figure)] * 2, others, figure
    end

    def assert_same_row(row, sites)
      figures = %i[live_bytes live_blocks growth_bytes allocations frees bytes_allocated temporary]
      assert_equal(figures.map { |figure| sites.sum { |site| site[figure.to_s] } },
                   figures.map { |figure| row.site[figure] }, row.name)
    end

    def test_one_frame_into_a_pipe
      pid, = start(program(GROWING))
      out, err, status = heapline("top", "--every", "0.1", pid.to_s)
      assert_equal [0, ""], [status.exitstatus, err]
      assert_match(/\Aheapline top · pid #{pid} .*program\.rb:1$/m, out)
      refute_includes out, "\e"
    end
  end
end
