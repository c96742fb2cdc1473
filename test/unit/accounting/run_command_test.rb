# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/accounting/run_command"

module Heapline
  module Accounting
    class RunCommandTest < Minitest::Test
      include CliHelper

      # [environment, program, words] of the exec that the arguments lead to.
      def executed(*words, env: {})
        seen = nil
        replacing(Command::Installation, :core, "/gems/libheapline.so") do
          replacing(Kernel, :exec, ->(*arguments) { seen = arguments }) { heapline(*words, env: env) }
        end
        seen
      end

      def test_becomes_the_command_with_its_arguments
        environment, program, *rest = executed("ruby", "-e", "p 1", "--top", "5")
        assert_equal [["-e", "p 1", "--top", "5"], "ruby"], [rest, program.last]
        top = ProcessIdentity.of(Process.pid).stem
        assert_equal ["/gems/libheapline.so", "", top],
                     environment.values_at("LD_PRELOAD", "HEAPLINE", "HEAPLINE_TOP")
        assert_equal Command::Installation::EXE, environment["HEAPLINE_REPORTER"].split("\x1f")[-3]
        refute environment.key?("RUBYOPT")
        refute environment.key?("RUBYLIB")
      end

      LIB = Command::Installation::LIB

      # What is loaded is waited for before each program.
      def test_libraries_that_it_does_not_need_are_not_loaded
        script = "def Kernel.exec(*) = $stdout.write($LOADED_FEATURES.join(\"\\n\")) && $stdout.flush && exit!(0); " \
                 "require \"heapline/cli\"; " \
                 "Heapline::CLI.start(%w[--quiet --objects --no-follow -o /dev/null --top 5 true])"
        command = [{ "RUBYOPT" => nil }, RbConfig.ruby, "--disable-gems", "-I#{LIB}", "-e", script]
        loaded = IO.popen(command, &:read)
        assert_match(%r{/run_command\.rb$}, loaded)
        refute_match(%r{/(optparse|fileutils|tmpdir|time|date)\.rb$}, loaded)
      end

      # What is said of a program `name`, or of a link `ruby` that leads to it.
      def said_of(name, *options, env: {})
        in_directory do |directory|
          File.write(File.join(directory, name), "#!/bin/sh\n", perm: 0o755)
          File.symlink(name, File.join(directory, "ruby"))
          replacing(Command::Installation, :core, "/gems/libheapline.so") do
            replacing(Kernel, :exec, nil) do
              [name, "ruby"].map { |word| heapline(*options, word, env: { **env, "PATH" => directory }).err }
            end
          end
        end
      end

      def test_another_ruby_is_not_counted_and_that_is_said
        %w[jruby truffleruby jruby-9.4].each do |name|
          expected = [name, "ruby"].map do |word|
            "heapline: #{word} is not CRuby: its memory is not counted (native memory: heapline --any #{word})\n"
          end
          assert_equal expected, said_of(name)
        end
      end

      def test_nothing_is_said_where_it_is_counted_or_is_cruby
        assert_equal ["", ""], said_of("jruby", "--any")
        assert_equal ["", ""], said_of("jruby", env: { "HEAPLINE" => "any" })
        assert_equal ["", ""], said_of("ruby3.4")
        assert_equal ["", ""], said_of("jrubyfier")
      end

      def test_options_end_at_the_command
        assert_equal "quiet,top:5", executed("--quiet", "--top", "5", "sh", "--keep").first["HEAPLINE"]
        assert_equal "keep", executed("run", "--keep", "--", "sh").first["HEAPLINE"]
        assert_equal ["--top"], executed("run", "sh", "--top").drop(2)
      end

      def test_each_switch_reaches_the_environment
        found = executed("-o", "/tmp/x.json", "--top", "1", "--sort", "life", "--min", "2k", "--objects", "--no-follow",
                         "--keep", "--gc", "--mwrap", "--tags", "--public-api", "--blocks", "--quarantine", "--core",
                         "--any", "--off", "--internal", "--sites", "500", "--log", "/x-%p", "--every", "1m",
                         "--rss", "2G", "--log-max", "3M", "sh").first["HEAPLINE"]
        assert_equal "output:/tmp/x.json,top:1,sort:life,min:2000,objects,nofollow,keep,gc,mwrap,tags,api," \
                     "blocks,quarantine,core,any,off,internal,sites:500,log:/x-%25p,every:60,rss:2000000000," \
                     "logmax:3000000", found
        assert_equal RunOptions::KEYS.keys - [:quiet], RunOptions.from_env(found).keys
      end

      def test_an_output_that_cannot_be_written_is_said_before_the_program_runs
        [%w[run], %w[leaks]].each do |command|
          result = heapline(*command, "-o", "/no/such/place/r.json", "touch", File.join(@directory, "ran"))
          assert_equal [3, "heapline: the output cannot be written to /no/such/place/r.json: no such directory\n"],
                       [result.status, result.err]
        end
        refute_path_exists File.join(@directory, "ran")
      end

      # What is asked for in vain => what it lacks.
      VAIN = { %w[--rss 10M] => "--rss needs --log FILE", %w[--every 1] => "--every needs --log FILE",
               %w[--log-max 1M] => "--log-max needs --log FILE", %w[--quarantine] => "--quarantine needs --blocks",
               %w[--log x%z] => "--log: %z stands for nothing: %p is the pid, %h the host, %% a %",
               %w[--sites 10] => "--sites takes 64 to 1048576, not 10",
               %w[--sites 2000000] => "--sites takes 64 to 1048576, not 2000000" }.freeze

      def test_an_option_that_would_have_no_effect_is_refused
        VAIN.each do |words, message|
          [["run", *words, "sh"], ["env", *words]].each do |command|
            result = nil
            replacing(Kernel, :exec, nil) { result = heapline(*command) }
            assert_equal [2, "heapline: #{message} (heapline help #{command.first})\n"], [result.status, result.err]
          end
        end
      end

      def test_it_has_one_with_what_it_needs_and_is_no_harm_in_the_environment
        assert executed("--quarantine", "--mwrap", "sh")
        assert executed("--every", "1", "sh", env: { "HEAPLINE" => "log:/x" })
        senseless = "quarantine,every:1,rss:5"
        assert_equal senseless, executed("sh", env: { "HEAPLINE" => senseless }).first["HEAPLINE"]
      end

      def test_the_command_line_wins_over_the_environment
        assert_equal "top:9,keep", executed("--top", "9", "sh", env: { "HEAPLINE" => "top:1,keep" }).first["HEAPLINE"]
      end

      def test_the_output_is_where_the_user_stands
        assert_equal "output:#{Dir.pwd}/x.json", executed("-o", "x.json", "sh").first["HEAPLINE"]
      end

      def test_a_file_that_is_asked_for_is_written_quiet_or_not
        assert_equal "output:/tmp/x", executed("-q", "-o", "/tmp/x", "sh").first["HEAPLINE"]
        assert_equal "output:/tmp/x", executed("-o", "/tmp/x", "sh", env: { "HEAPLINE" => "quiet" }).first["HEAPLINE"]
      end

      def test_a_log_has_a_companion_and_no_other_run_has_one
        environment, = executed("--log", "x-%p.jsonl", "sh", env: { "HEAPLINE_COMPANION" => "an outer one's" })
        assert_equal "log:#{Dir.pwd}/x-%25p.jsonl", environment["HEAPLINE"]
        assert_equal [Command::Installation::EXE, "log", "--companion", "--flight", "4"],
                     environment["HEAPLINE_COMPANION"].split("\x1f").last(5)
        replacing(Dir, :pwd, "/100%p") { environment, = executed("--log", "x-%p", "sh") }
        assert_equal "log:/100%25%25p/x-%25p", environment["HEAPLINE"]
        environment, = executed("sh", env: { "HEAPLINE_COMPANION" => "an outer one's" })
        assert_equal [true, nil], [environment.key?("HEAPLINE_COMPANION"), environment["HEAPLINE_COMPANION"]]
      end

      def test_the_core_goes_before_what_is_preloaded_already
        preload = ->(value) { executed("sh", env: { "LD_PRELOAD" => value }).first["LD_PRELOAD"] }
        assert_equal "/gems/libheapline.so:/lib/jemalloc.so:b.so", preload.call("/lib/jemalloc.so b.so")
        assert_equal "/gems/libheapline.so:a.so", preload.call("a.so:/gems/libheapline.so")
      end

      def test_mwrap_keeps_blocks
        assert_equal "mwrap,blocks", executed("--mwrap", "sh").first["HEAPLINE"]
        assert_equal "mwrap,blocks", executed("sh", env: { "HEAPLINE" => "mwrap" }).first["HEAPLINE"]
      end

      def test_a_dump_for_mwrap_needs_no_require
        asked = ->(**env) { executed("--mwrap", "sh", env: env.transform_keys(&:to_s)).first["RUBYOPT"] }
        assert_equal [nil, "-rmwrap", "-W0 -rmwrap"],
                     [asked[], asked[MWRAP: "dump_fd:2"], asked[MWRAP: "dump_fd:2", RUBYOPT: "-W0"]]
      end

      def test_mwrap_is_found_before_others
        assert_equal "#{Command::Installation::COMPAT}:/x",
                     executed("--mwrap", "sh", env: { "RUBYLIB" => "/x" }).first["RUBYLIB"]
      end

      def test_labels_need_no_gemfile
        paths = executed("--tags", "sh", env: { "RUBYLIB" => "/x:#{LIB}" }).first["RUBYLIB"].split(":")
        assert_equal [LIB, "/", "/x"], paths
      end

      def test_what_cannot_be_run
        assert_equal [127, "heapline: no-such: command not found\n"], heapline("no-such").to_a.values_at(0, 2)
        assert_equal [127, "heapline: reprot: command not found\nheapline: is it `heapline report`?\n"],
                     heapline("reprot", "4711").to_a.values_at(0, 2)
        assert_equal 126, heapline("run", "/etc/passwd").status
        assert_equal 2, heapline("run").status
        assert_equal 2, heapline("--quiet").status
        assert_equal([2, "heapline: HEAPLINE: no such key"],
                     heapline("sh", env: { "HEAPLINE" => "x" }).then { |result| [result.status, result.err[0, 31]] })
      end

      def test_a_missing_interpreter
        script = File.join(@directory, "script")
        File.write(script, "#!/no/such/interpreter\n")
        File.chmod(0o755, script)
        replacing(Command::Installation, :core, "/gems/libheapline.so") do
          result = heapline(script)
          assert_equal 127, result.status
          assert_match(/its interpreter/, result.err)
        end
      end
    end
  end
end
