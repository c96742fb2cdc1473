# frozen_string_literal: true

module Heapline
  module CLI
    module Completion
      # For fish: a line for each command and each option, with when it holds.
      class Fish
        def initialize(known)
          @known = known
        end

        def script
          <<~FISH
            function __heapline_at
                set -l words (commandline -opc)
                test "$words[2..-1]" = "$argv"
            end
            function __heapline_is
                set -l words (commandline -opc) ''
                set -l command $words[2]
                if test "$command" = heap
                    set command heap $words[3]
                else if not contains -- "$command" #{@known.heads.keys.join(" ")}
                    set command run
                end
                test "$command" = "$argv"
            end
            #{[*heads, *heads("heap"), *options, *arguments].join("\n")}
          FISH
        end

        private

        def heads(behind = nil)
          @known.heads(behind).map do |name, summary|
            "complete -c heapline -f -n #{word("__heapline_at #{behind}")} -a #{name} -d #{word(summary)}"
          end
        end

        def options
          @known.commands.flat_map do |command|
            command.options.map do |option|
              ["complete -c heapline -n #{word("__heapline_is #{command.name}")}", *names(option), *value(option),
               "-d #{word(option.help)}"].join(" ")
            end
          end
        end

        def names(option)
          option.names.map { |name| name.start_with?("--") ? "-l #{name[2..]}" : "-s #{name[1..]}" }
        end

        def value(option)
          return unless option.value

          option.choices.empty? ? "-r" : "-x -a #{word(option.choices.join(" "))}"
        end

        def arguments
          @known.arguments.map do |name, words|
            "complete -c heapline -f -n #{word("__heapline_is #{name}")} -a #{word(words.join(" "))}"
          end
        end

        def word(text)
          "'#{text.gsub(/['\\]/) { |char| "\\#{char}" }}'"
        end
      end
    end
  end
end
