# frozen_string_literal: true

require_relative "../command/base"
require_relative "completion/bash"
require_relative "completion/fish"
require_relative "completion/known"
require_relative "completion/zsh"

module Heapline
  module CLI
    # `heapline completion SHELL`: a script that completes commands, options and their values.
    class CompletionCommand < Command::Base
      USAGE_LINE = "completion bash|zsh|fish"
      SUMMARY = "Print a script that completes heapline's commands and options in a shell"
      SHELLS = { "bash" => Completion::Bash, "zsh" => Completion::Zsh, "fish" => Completion::Fish }.freeze

      def call(argv)
        shell, *others = parse(argv)
        raise UsageError, "which shell? #{SHELLS.keys.join(", ")}" unless SHELLS.key?(shell) && others.empty?

        @out.puts SHELLS.fetch(shell).new(Completion::Known.new(SHELLS.keys)).script
        Command::OK
      end

      private

      def define(parser)
        parser.separator "bash: eval \"$(heapline completion bash)\" in ~/.bashrc"
        parser.separator "zsh:  eval \"$(heapline completion zsh)\" in ~/.zshrc, after compinit"
        parser.separator "fish: heapline completion fish > ~/.config/fish/completions/heapline.fish"
      end
    end
  end
end
