# frozen_string_literal: true

require "test_helper"
require "open3"
require "yaml"
require "support/cli"
require "heapline/accounting/env_command"

module Heapline
  module Accounting
    # What each place writes down, read by that place's own reader where it is there.
    class EnvCommandTest < Minitest::Test
      include CliHelper

      CORE = "/gems/it's-$HOME/heapline/libheapline.so"
      LOG = %q(/var/log/my shop/it's "100%" $(date) \\n-%p.jsonl)

      def printed(*words, env: {})
        replacing(Command::Installation, :core, CORE) do
          result = heapline("env", *words, env: env)
          assert_equal [0, ""], [result.status, result.err]
          result.out
        end
      end

      def with_log(place)
        printed("--for", place, "--objects", "--log", LOG)
      end

      # What a program is to see.
      def expected
        log = LOG.gsub("%", "%25")
        replacing(Command::Installation, :core, CORE) do
          [CORE, "objects,log:#{log}", Command::Installation.companion.join(" ")]
        end
      end

      NAMES = %w[LD_PRELOAD HEAPLINE HEAPLINE_COMPANION].freeze
      PRINT = "printf '%s\\n' #{NAMES.map { |name| "\"$#{name}\"" }.join(" ")}".freeze

      def shell(text)
        out, err, = Open3.capture3({ "HEAPLINE" => nil }, "sh", "-c", text)
        assert_equal expected, out.lines(chomp: true), err
      end

      # A library that is not there would be named by each program on its stderr: none is started but the shell.
      def test_a_shell_takes_it_over
        shell("#{with_log("shell")}#{PRINT}")
      end

      def test_a_procfile_is_read_by_a_shell
        line = with_log("procfile")
        assert_match(/\Aweb: env .* COMMAND\n\z/, line)
        shell("#{line[/env (.*) COMMAND/, 1]}\n#{PRINT}")
      end

      def test_kubernetes_reads_yaml_and_expands_no_variable
        rows = YAML.safe_load(with_log("kubernetes")).fetch("env")
        assert_equal(NAMES, rows.map { |row| row["name"] })
        assert_equal(expected, rows.map { |row| row["value"].gsub("$$", "$") })
        rows.each { |row| refute_match(/(?<!\$)\$\(/, row["value"]) }
      end

      def test_docker
        lines = with_log("docker").lines(chomp: true)
        assert_match(/\A# /, lines.shift)
        found = lines.to_h { |line| line.match(/\AENV (\w+)="((?:[^"\\$]|\\.)*)"\z/).captures }
        assert_equal(NAMES.zip(expected).to_h, found.transform_values { |value| value.gsub(/\\(.)/, "\\1") })
      end

      def test_systemd
        lines = with_log("systemd").lines(chomp: true)
        assert_equal "[Service]", lines.shift
        found = lines.map { |line| line.match(/\AEnvironment="((?:[^"\\]|\\.)*)"\z/)[1] }
        assert_equal(NAMES.zip(expected).map { |pair| pair.join("=") },
                     found.map { |text| text.gsub(/\\(.)/, "\\1").gsub("%%", "%") })
      end

      def test_systemd_reads_the_unit
        unit = File.join(@directory, "shop.service")
        File.write(unit, "#{with_log("systemd")}ExecStart=/bin/true\n")
        out, = Open3.capture2e("systemd-analyze", "verify", unit)
        refute_match(/shop\.service:\d+/, out)
      rescue Errno::ENOENT
        skip "systemd-analyze is not there"
      end

      def test_without_options_there_is_the_library_alone
        assert_equal "export LD_PRELOAD='/gems/it'\\''s-$HOME/heapline/libheapline.so'\n", printed
      end

      def test_what_is_there_stays
        assert_equal ["export LD_PRELOAD='/gems/it'\\''s-$HOME/heapline/libheapline.so:/lib/jemalloc.so'\n",
                      "export HEAPLINE=keep,blocks\n"],
                     printed("--blocks", env: { "LD_PRELOAD" => "/lib/jemalloc.so", "HEAPLINE" => "keep" }).lines
      end

      def test_mwrap
        assert_match(/^export RUBYLIB=#{Command::Installation::COMPAT}$/, printed("--mwrap"))
      end

      # There is no report at the end without the process that heapline became.
      def test_what_is_wrong
        assert_match(/invalid option: --output/, heapline("env", "--output", "x").err)
        assert_equal "heapline: env takes no command: ruby x; heapline ruby x runs it (heapline help env)\n",
                     heapline("env", "ruby", "x").err
        assert_match(/--for takes shell, systemd, docker, procfile, kubernetes, not nomad/,
                     heapline("env", "--for", "nomad").err)
      end
    end
  end
end
