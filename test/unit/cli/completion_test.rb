# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/cli"

module Heapline
  module CLI
    # The scripts, in the shells that are to read them.
    class CompletionTest < Minitest::Test
      include CliHelper

      # A line as it is typed, with a bar where more words would follow => what completes its last word.
      LINES = {
        "heapline rep" => %w[report replay],
        "heapline heap d" => %w[dump diff dominators],
        "heapline report --sort l" => %w[live life],
        "heapline report 4711 --form" => %w[--format],
        "heapline heap histo x.json --by gen" => %w[generation],
        "heapline run --obj" => %w[--objects],
        "heapline --quiet --obj" => %w[--objects],
        "heapline leaks --format ju" => %w[junit],
        "heapline record --obj" => %w[--objects],
        "heapline env --for sys" => %w[systemd],
        "heapline help gro" => %w[growth],
        "heapline completion " => %w[bash zsh fish],
        "heapline record -o x.hlc rub --nat" => [] # the program's own
      }.freeze

      def script(shell)
        result = heapline("completion", shell)
        assert_equal [0, ""], [result.status, result.err]
        File.join(@directory, "completion.#{shell}").tap { |path| File.write(path, result.out) }
      end

      # What a shell says to a program of it; skips where the shell is not there.
      def output(shell, *words)
        out, err, status = Open3.capture3({ "HOME" => @directory, "LC_ALL" => "C.UTF-8" }, shell, *words)
        assert_equal ["", true], [err, status.success?]
        out
      rescue Errno::ENOENT
        skip "#{shell} is not there"
      end

      def test_bash
        asked = LINES.keys.map do |line|
          words = line.split(" ", -1)
          "COMP_WORDS=(#{words.map { |word| "'#{word}'" }.join(" ")}); COMP_CWORD=#{words.size - 1}; _heapline\n" \
            "echo \"${COMPREPLY[*]}\"\n"
        end
        text = "set -u; . #{script("bash")}; complete -p heapline\n" \
               "compgen() { [[ $1 == -c ]] || builtin compgen \"$@\"; }\n"
        registered, *found = output("bash", "--norc", "-c", text + asked.join).lines(chomp: true)
        assert_equal "complete -o default -F _heapline heapline", registered
        assert_equal(LINES.transform_values { |words| words.join(" ") }, LINES.keys.zip(found).to_h)
      end

      # bash takes --sort=l for three words.
      def test_bash_behind_an_equals_sign
        text = ". #{script("bash")}; COMP_WORDS=(heapline report --sort = li); COMP_CWORD=4; _heapline\n" \
               "echo \"${COMPREPLY[*]}\""
        assert_equal "live life\n", output("bash", "--norc", "-c", text)
      end

      def test_fish
        text = "source #{script("fish")}\n" \
               "#{LINES.keys.map { |line| "echo (complete -C '#{line}' | string split -f1 \\t)\n" }.join}"
        found = LINES.keys.zip(output("fish", "--no-config", "-c", text).lines(chomp: true)).to_h
        LINES.each do |line, words|
          assert_equal words.sort, found[line].split.grep_v(/zebra/).sort & words, line unless words.empty?
        end
      end

      def test_zsh_takes_it
        assert_equal "", output("zsh", "-f", "-n", script("zsh"))
        text = "autoload -Uz compinit; compinit -D -u; . #{script("zsh")}; print $_comps[heapline]"
        assert_equal "_heapline\n", output("zsh", "-f", "-c", text)
      end

      # Nothing is forgotten: each command, each option.
      def test_each_command_and_option_is_there
        scripts = %w[bash zsh fish].map { |shell| File.read(script(shell)) }
        COMMANDS.each_key do |name|
          options = CLI.command(name).new.parser.top.list.grep(OptionParser::Switch).flat_map(&:long)
          [name.split.last, *options.map { |option| option.delete_prefix("--") }].each do |word|
            assert scripts.all? { |script| script.include?(word) }, "#{name} #{word}"
          end
        end
      end

      def test_what_is_no_shell
        [%w[tcsh], [], %w[bash zsh]].each do |words|
          result = heapline("completion", *words)
          assert_equal [2, "heapline: which shell? bash, zsh, fish (heapline help completion)\n"],
                       [result.status, result.err]
        end
      end
    end
  end
end
