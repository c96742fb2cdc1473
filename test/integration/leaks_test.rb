# frozen_string_literal: true

require "test_helper"
require "support/accounted"
require "support/leak_corpus"
require "heapline/cli"
require "heapline/cli/leaks"

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
      assert_equal CLI::Leaks::LEAK, @status.exitstatus
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
      found = corpus(LeakCorpus.clean, "--show-reachable", more: LeakCorpus::CLEAN_RUBY)
      held = LeakCorpus.clean.grep(/held/) + %w[ruby_held_by_an_object ruby_held_by_a_fiber]
      missing = held.reject { |name| found[name]["reachable"].positive? } - thread_cases
      assert_empty missing
      assert_holders
    end

    HOLDERS = { "held_by_a_static_variable" => /\Adata of leak_corpus\.so\+0x\h+\z/,
                "held_by_a_ring" => /\Adata of leak_corpus\.so/,
                "held_by_a_shared_mapping" => /\Amapped memory/,
                "held_by_tls_of_this_thread" => /\Astack or thread-local storage of thread \d+/,
                "ruby_held_by_an_object" => /\Athe Ruby object at 0x\h+\z/,
                # Or a word that the thread's own stack kept of it.
                "ruby_held_by_a_fiber" => /\A(mapped memory|stack or thread-local storage)/ }.freeze

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
        assert_match(%r{test/leaks/lost\.c\z}, record["frames"].first["file"])
        assert_equal 101, record["bytes"]
      end
    end

    CHILDREN = <<~RUBY.freeze
      2.times { fork { LeakCorpus.run("lost_by_calloc") } }
      Process.waitall
      system(RbConfig.ruby, "-e", #{"#{SETUP}LeakCorpus.run(\"lost_list\")".dump})
    RUBY

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
      out, err, status = heapline("leaks", "--library", "leak_corpus", "--format", "json", *options, pid.to_s)
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
        assert_equal CLI::Leaks::LEAK, status.exitstatus
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
      assert_equal 1, status.exitstatus
      assert_match(/keeps no blocks: start it with/, err)
    end

    def start(source)
      super(program(source))
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
        10.times { Heapline.leaks }
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
