# frozen_string_literal: true

require "test_helper"
require "support/accounted"
require "support/flight_run"
require "support/leak_corpus"
require "heapline/cli"
require "heapline/leaks/leaks_command"

module Heapline
  # `heapline leaks` and Heapline.leaks on planted truth: the corpus of test/leaks.
  class LeaksTest < Minitest::Test
    include Accounted

    # Searches of a running process until what it lost has been found: it may not have come so far.
    TRIES = 30
    SETUP = LeakCorpus.setup.freeze

    # The records as { case => { kind => blocks } }, and the whole report.
    # preload: an allocator.
    def corpus(names, *options, more: "", preload: nil)
      file = program(LeakCorpus.source(names, more))
      words = ["--library", "leak_corpus", "--format", "json", *options, RbConfig.ruby, file]
      out, err, @status = heapline("leaks", *words, env: { LD_PRELOAD: preload }.compact)
      refute_empty out, err
      @report = JSON.parse(out)
      LeakCorpus.found(@report["records"])
    end

    # All of its blocks are there, whatever their class.
    def assert_found(found, name, times: 1)
      assert_equal LeakCorpus.expected(name).sum * times, found[name].values.sum, "#{name}: #{found[name]}"
    end

    # A word may look like a pointer by chance, in one of dozens of runs; not in the next one too.
    def not_by_chance
      tries ||= 0
      yield
    rescue Minitest::Assertion
      (tries += 1) < 2 ? retry : raise
    end

    def test_each_planted_leak_is_found_in_its_class
      assert_operator LeakCorpus.lost.size + LeakCorpus::RUBY.size, :>=, 50
      not_by_chance { assert_planted(LeakCorpus.lost + LeakCorpus::RUBY) }
    end

    def test_what_dropped_objects_left_holds_no_lost_block
      not_by_chance do
        found = corpus([], "--show-reachable", more: LeakCorpus::LOST_AFTER_ARRAYS)["ruby_lost_after_many_arrays"]
        assert_equal 2000, found.values.sum
        assert_operator found["definite"], :>=, 1990, holders(["ruby_lost_after_many_arrays"])
      end
    end

    ALLOCATORS = { "jemalloc" => "libjemalloc.so.2", "tcmalloc" => "libtcmalloc_minimal.so.4" }.freeze

    # What an allocator keeps of blocks (its caches, its records of its memory) is not the program's: at most a stack
    # holds some by chance, as with any of them.
    ALLOCATORS.each_key do |name|
      define_method("test_what_#{name}_keeps_holds_no_lost_block") do
        planted = LeakCorpus.lost + LeakCorpus::RUBY
        not_by_chance do
          found = corpus(LeakCorpus.lost, "--show-reachable", more: LeakCorpus::LOST_RUBY, preload: allocator(name))
          assert_empty holders(planted).lines.grep(/lib(je|tc)malloc/)
          hidden = planted.select { |planted_name| found[planted_name].keys == ["reachable"] }
          assert_operator hidden.size, :<=, 2, holders(hidden)
        end
      end
    end

    def test_no_clean_case_is_blamed_with_jemalloc
      assert_empty corpus(LeakCorpus.clean, more: LeakCorpus::CLEAN_RUBY, preload: allocator("jemalloc"))
    end

    def allocator(name)
      directories = "{/usr/lib/x86_64-linux-gnu,/usr/lib64,/usr/lib,/usr/local/lib}"
      Dir.glob(File.join(directories, ALLOCATORS[name])).first || skip("#{name} is not installed")
    end

    # All of them, in one run.
    def assert_planted(names)
      found = corpus(LeakCorpus.lost, "--show-reachable", more: LeakCorpus::LOST_RUBY)
      classes = names.to_h { |name| [name, found[name].values_at("definite", "indirect", "possible").map(&:to_i)] }
      wrong = classes.reject { |name, blocks| blocks == LeakCorpus.expected(name) }
      assert_empty wrong, holders(wrong.keys)
      assert_empty found.reject { |_, kinds| kinds.keys == ["reachable"] }.keys - names
      assert_equal Command::FOUND, @status.exitstatus
    end

    # What keeps the blocks of these cases.
    def holders(names)
      held = @report["records"].select { |record| record["held_by"] && names.include?(LeakCorpus.name(record)) }
      held.map { |record| "#{LeakCorpus.name(record)}: #{record["kind"]}, #{record["held_by"]["text"]}\n" }.join
    end

    def test_no_clean_case_is_blamed
      assert_operator LeakCorpus.clean.size, :>=, 40
      found = corpus(LeakCorpus.clean, more: LeakCorpus::CLEAN_RUBY)
      assert_empty found
      assert_equal 0, @status.exitstatus
      skip "ptrace is not permitted here" if @report["processes"].first["threads_without_registers"].positive?
    end

    def test_what_is_held_is_still_reachable
      not_by_chance do
        found = corpus(LeakCorpus.clean, "--show-reachable", more: LeakCorpus::CLEAN_RUBY)
        held = LeakCorpus.clean.grep(/held/) + %w[ruby_held_by_an_object ruby_held_by_a_fiber ruby_held_by_a_thread]
        assert_empty held.reject { |name| found[name]["reachable"].positive? } - thread_cases
        refute @report["processes"].first["fibers_unknown"], "the fibers of this Ruby are not known"
        assert_holders
      end
    end

    HOLDERS = { "held_by_a_static_variable" => /\Adata of leak_corpus\.so\+0x\h+\z/,
                "held_by_a_ring" => /\Adata of leak_corpus\.so/,
                "held_by_a_shared_mapping" => /\Amapped memory/,
                "held_by_tls_of_this_thread" => /\Astack or thread-local storage of thread \d+/,
                "ruby_held_by_an_object" => /\Athe Ruby object at 0x\h+\z/,
                "ruby_held_by_a_fiber" => /\Athe stack of a fiber at \S+program\.rb:4\z/,
                "ruby_held_by_a_thread" => /\Athe stack of thread \d+ at \S+program\.rb:5\z/ }.freeze

    def assert_holders
      skip "ptrace is not permitted here" if @report["processes"].first["threads_without_registers"].positive?
      HOLDERS.each do |name, text|
        record = @report["records"].find { |each| each["frames"].any? { |frame| frame["function"].to_s == name } }
        assert_match text, record&.dig("held_by", "text").to_s, name
      end
    end

    # Their blocks stand under the threads' functions.
    def thread_cases
      %w[held_by_tls_of_a_thread held_by_the_stack_of_a_thread held_by_the_key_of_a_thread
         held_by_a_register_of_a_thread held_by_a_context_in_a_block]
    end

    def test_a_record_names_the_function_its_line_and_the_line_of_ruby
      not_by_chance do
        corpus(["lost_at_return"])
        record = @report["records"].first
        refute_nil record
        assert_match(/program\.rb:2\z/, record["location"])
        assert_equal "lost_at_return", record["frames"].first["function"]
        assert_match(%r{test/leaks/lost\.c\z}, record["frames"].first["path"])
        assert_equal 101, record["bytes"]
      end
    end

    # A variable has the address of a freed block, at which a lost one lies: in quarantine it comes later.
    def test_where_a_freed_block_was
      lost = "Thread.new { LeakCorpus.ruby_lost_where_a_freed_block_was }.join"
      name = "ruby_lost_where_a_freed_block_was"
      assert_equal({ name => { "reachable" => 1 } }, corpus([], "--show-reachable", more: lost))
      not_by_chance do
        assert_equal({ name => { "definite" => 1 } }, corpus([], "--show-reachable", "--quarantine", more: lost))
      end
      _, err, status = heapline("leaks", "--quarantine", "1")
      assert_equal [2, true], [status.exitstatus, err.include?("heapline --blocks --quarantine")]
    end

    # What it lost are its pages, which are reachable: that it grew is said.
    def test_a_pool_that_lost_its_owner
      not_by_chance do
        found = corpus([], more: "Thread.new { LeakCorpus.ruby_lost_owner_of_a_pool }.join")
        assert_equal({ "ruby_lost_owner_of_a_pool" => { "definite" => 1 } }, found)
        library = @report["libraries"].first
        assert_equal ["leak_corpus.so", 1, 32], [File.basename(library["library"]), *library.values_at("lost_blocks",
                                                                                                       "lost_bytes")]
        assert_operator library["reachable_bytes"], :>=, 2300
      end
    end

    # What was there before the loss, in the same generation too, has not grown since.
    def test_what_a_library_had_before_its_loss_is_no_growth
      file = program("require 'fiddle'\nHELD = Fiddle::Pointer.malloc(5000)\nThread.new { Fiddle.malloc(100) }.join\n")
      not_by_chance do
        fiddle = FlightRun::FIDDLE.map { |directory| "-I#{directory}" }
        out, = heapline("leaks", "--format", "json", RbConfig.ruby, *fiddle, file)
        libraries = JSON.parse(out)["libraries"].map do |library|
          [File.basename(library["library"]), *library.values_at("lost_blocks", "lost_bytes", "reachable_blocks")]
        end
        assert_equal [["fiddle.so", 1, 100, 0]], libraries
      end
    end

    CHILDREN = <<~RUBY.freeze
      2.times { fork { LeakCorpus.run("lost_by_calloc") } }
      Process.waitall
      system(RbConfig.ruby, "-e", #{"#{SETUP}LeakCorpus.run(\"lost_list\")".dump})
    RUBY

    INHERITED = <<~RUBY
      Thread.new { LeakCorpus.run("lost_by_strdup") }.join
      2.times { fork { Thread.new { LeakCorpus.run("lost_by_calloc") }.join } }
      Process.waitall
    RUBY

    # A forked child has what its parent had lost before: that counts once.
    def test_what_a_child_inherits_is_its_parents
      not_by_chance do
        found = corpus([], more: INHERITED)
        assert_equal 3, @report["processes"].size
        assert_found found, "lost_by_strdup"
        assert_found found, "lost_by_calloc", times: 2
      end
    end

    def test_children_are_searched_too
      not_by_chance do
        found = corpus([], more: CHILDREN)
        assert_equal 4, @report["processes"].size
        assert_found found, "lost_by_calloc", times: 2
        assert_found found, "lost_list"
      end
    end

    def test_the_exit_status_of_the_command_comes_first
      corpus(["lost_at_return"], more: "exit 5")
      assert_equal 5, @status.exitstatus
      corpus([], more: "puts 'text'; exit 0")
      assert_equal 0, @status.exitstatus
    rescue JSON::ParserError
      assert_equal 0, @status.exitstatus
    end

    RUNNING = <<~RUBY.freeze
      #{SETUP}
      LeakCorpus.run("lost_by_calloc")
      LeakCorpus.ruby_held_below { }
      LeakCorpus.ruby_held_below do
        puts "ready"
        $stdout.flush
        $stdin.gets
        LeakCorpus.run("lost_by_overwriting")
        loop { sleep 0.01; "x" * 1000 }
      end
    RUBY

    # [pid, pipe to its standard input] of a program that keeps blocks.
    def start_with_blocks(source)
      reader, writer = IO.pipe
      input, to_program = IO.pipe
      pid = Process.spawn(environment, *heapline_command("--quiet", "--blocks", RbConfig.ruby, program(source)),
                          out: writer, in: input)
      [writer, input].each(&:close)
      @processes << pid
      assert reader.wait_readable(Heapline::TestHelper::PATIENCE), "the program wrote nothing"
      [pid, to_program]
    end

    def running_leaks(pid, *options)
      out, err, status = heapline("leaks", "--library", "leak_corpus", "--format", "json", *PATIENTLY, *options,
                                  pid.to_s)
      refute_empty out, err
      [LeakCorpus.found(JSON.parse(out)["records"]), status]
    end

    def searched_until(pid, *options)
      TRIES.times do
        found, = running_leaks(pid, *options)
        return found if yield(found)
      end
      {}
    end

    def test_a_running_process_is_searched_and_goes_on
      pid, input = start_with_blocks(RUNNING)
      input.puts
      not_by_chance do
        found, status = running_leaks(pid)
        assert_found found, "lost_by_calloc"
        assert_equal Command::FOUND, status.exitstatus
      end
      found = searched_until(pid) { |seen| seen.key?("lost_by_overwriting") }
      assert_found found, "lost_by_overwriting"
      assert_empty found.keys - %w[lost_by_calloc lost_by_overwriting]
      assert Process.kill(0, pid)
    end

    def test_only_what_was_born_since_the_baseline
      pid, input = start_with_blocks(RUNNING)
      _, err, status = heapline("baseline", pid.to_s, "--timeout", "0.2") # it is made at the next allocation
      assert status.success? || err.include?("the request stays")
      input.puts
      found = searched_until(pid, "--since", "baseline", &:any?)
      assert_equal ["lost_by_overwriting"], found.keys
    end

    def test_a_commands_end_since_its_baseline
      more = <<~RUBY
        require "heapline"
        Heapline.clear
        LeakCorpus.run("lost_by_overwriting")
      RUBY
      file = program("#{SETUP}LeakCorpus.run(\"lost_by_calloc\")\n#{more}")
      out, err, = heapline("leaks", "--since", "baseline", "--library", "leak_corpus", "--format", "json",
                           RbConfig.ruby, "-I", Heapline::TestHelper::LIB, file)
      refute_empty out, err
      assert_equal ["lost_by_overwriting"], LeakCorpus.found(JSON.parse(out)["records"]).keys
    end

    def test_a_process_without_blocks_says_what_to_do
      pid, = start("puts 1; $stdout.flush; sleep")
      _, err, status = heapline("leaks", pid.to_s)
      assert_equal 3, status.exitstatus
      assert_match(/keeps no blocks: start it with/, err)
    end

    def start(source)
      super(program(source))
    end

    BUSY = <<~RUBY.freeze
      #{SETUP}
      LeakCorpus.run("lost_by_calloc")
      BLOCKS = Array.new(200_000) { |i| "a string of its own, number \#{i}" }
      asked = nil
      puts "ready"
      $stdout.flush
      until asked
        asked = $stdin.read_nonblock(1, exception: false)
        asked = nil if asked == :wait_readable
        "x" * 1000
      end
    RUBY

    # While a search that was asked for goes on: the copy's file is there, and has not its name yet.
    def while_it_is_searched(source, **env)
      reader, writer = IO.pipe
      input, to_program = IO.pipe
      pid = Process.spawn(environment(HEAPLINE: "keep", **env),
                          *heapline_command("--quiet", "--blocks", RbConfig.ruby, program(source)),
                          out: writer, in: input)
      [writer, input].each(&:close)
      @processes << pid
      assert reader.wait_readable(Heapline::TestHelper::PATIENCE), "the program wrote nothing"
      asking = Thread.new { running_leaks(pid) }
      Thread.pass until Dir.glob(File.join(@directory, "flights/*.leaks.part")).any? || !asking.alive?
      assert_predicate asking, :alive?, "the search was over at once"
      to_program.write("x")
      [pid, asking, reader]
    end

    # Two searches at once, each with a report of its own.
    def test_an_end_while_it_is_searched
      Dir.mktmpdir do |directory|
        pid, asking, = while_it_is_searched(BUSY, HEAPLINE_LEAKS: "0#{directory}")
        assert_found asking.value.first, "lost_by_calloc"
        Process.wait(pid)
        assert_live_identity(flight_files)
        assert_equal 1, Dir.glob(File.join(directory, "#{pid}-*.leaks")).size
        assert_empty Dir.glob(File.join(directory, "*.part"))
        report = Dir.glob(File.join(directory, "*.leaks")).first
        assert_equal 1, JSON.parse(File.binread(report))["heapline_leaks"]
      end
    end

    # Nothing of the parent's search is the child's, which can be searched itself.
    def test_a_fork_while_it_is_searched
      Dir.mktmpdir do |directory|
        more = <<~RUBY
          pid = fork { puts Dir.children("/proc/self/fd").filter_map { |fd| File.readlink("/proc/self/fd/\#{fd}") rescue nil }.grep(/leaks/).inspect }
          Process.wait(pid)
        RUBY
        pid, asking, reader = while_it_is_searched(BUSY + more, HEAPLINE_LEAKS: "0#{directory}")
        assert_found asking.value.first, "lost_by_calloc"
        Process.wait(pid)
        assert_equal %w[ready []], reader.read.lines(chomp: true)
        assert_live_identity(flight_files)
        assert_equal 2, Dir.glob(File.join(directory, "*.leaks")).size
        assert_equal 2, Dir.glob(File.join(directory, "*.begun")).size
      end
    end

    # Libraries that come and go, the next one where the last one was, and lose blocks of sizes of their own.
    def test_what_an_unloaded_library_lost
      files = Array.new(3) do |i|
        File.join(@directory, "grabber#{i}.so").tap { |file| FileUtils.cp(NativePrograms.library("grabber"), file) }
      end
      fiddle = FlightRun::FIDDLE.map { |directory| "$LOAD_PATH.unshift(#{directory.dump})\n" }.join
      file = program(<<~RUBY)
        #{fiddle}require "fiddle"
        #{files}.each_with_index do |file, i|
          library = Fiddle.dlopen(file)
          Fiddle::Function.new(library["grabber_take"], [Fiddle::TYPE_LONG], Fiddle::TYPE_VOIDP).call(10_001 + i)
          library.close
        end
      RUBY
      not_by_chance do
        out, err, = heapline("leaks", "--library", "grabber", "--format", "json", RbConfig.ruby, file)
        refute_empty out, err
        found = JSON.parse(out)["records"].to_h do |record|
          [record["bytes"], record["frames"].first.values_at("function", "library")]
        end
        assert_equal(files.each_with_index.to_h { |path, i| [10_001 + i, ["grabber_take", path]] }, found)
      end
    end

    INSIDE = <<~RUBY
      LeakCorpus.run("lost_list")
      leaks = Heapline.leaks(library: "leak_corpus")
      p leaks.lost?, leaks.definite_blocks, leaks.indirect_blocks, leaks.first&.frames&.at(1)&.function
      Heapline.clear
      LeakCorpus.run("lost_by_calloc")
      p Heapline.leaks(library: /leak_corpus/, since: :baseline).map { |record| record.frames.first.name }
      p Heapline.leaks(library: "no_such").lost?
    RUBY

    def test_from_inside
      not_by_chance do
        out, err, status = run_inside(INSIDE)
        assert status.success?, err
        assert_equal ["true", "1", "4", '"lost_list"', '["lost_by_calloc"]', "false"], out.lines(chomp: true)
      end
    end

    def run_inside(source, *options)
      file = program("#{SETUP}require \"heapline\"\n#{source}")
      heapline("--quiet", "--blocks", *options, RbConfig.ruby, "-I", Heapline::TestHelper::LIB, file)
    end

    def test_without_blocks_it_is_not_enabled
      file = program("require \"heapline\"\nbegin Heapline.leaks; rescue Heapline::NotEnabled => e; puts e.message end")
      out, = heapline("--quiet", RbConfig.ruby, "-I", Heapline::TestHelper::LIB, file)
      assert_match(/blocks are not kept in this process/, out)
    end

    # The program's children, signals and descriptors are its own.
    def test_the_program_notices_nothing
      out, err, status = run_inside(<<~RUBY)
        children = 0
        trap("CHLD") { children += 1 }
        before = Dir.children("/proc/self/fd").size
        threads = Array.new(2) { Thread.new { loop { Array.new(100) { |i| i.to_s }; sleep 0.001 } } }
        sleeper = Thread.new { IO.select(nil, nil, nil, 0.5) || :slept }
        4.times { Heapline.leaks }
        p sleeper.value
        threads.each(&:kill).each(&:join)
        p children, Dir.children("/proc/self/fd").size - before
        begin
          p Process.wait2(-1, Process::WNOHANG)
        rescue Errno::ECHILD
          puts "no child"
        end
      RUBY
      assert status.success?, err
      assert_equal [":slept", "0", "0", "no child"], out.lines(chomp: true)
    end
  end
end
