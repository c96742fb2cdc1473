# frozen_string_literal: true

module Heapline
  module CLI
    module Completion
      # For zsh: its _arguments shows what each option does.
      class Zsh
        def initialize(known)
          @known = known
        end

        def script
          <<~ZSH
            #compdef heapline
            _heapline() {
              local command=run
              local -a commands
              commands=(#{described})
              if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
                _describe command commands
                _command_names -e
                return
              fi
              if [[ $words[2] == heap ]]; then
                commands=(#{described("heap")})
                if (( CURRENT == 3 )); then _describe command commands; return; fi
                command="heap $words[3]"
                shift 2 words
                (( CURRENT -= 2 ))
              elif (( ${commands[(I)${words[2]}:*]} )); then
                command=$words[2]
                shift words
                (( CURRENT-- ))
              fi
              case $command in
            #{commands.join("\n")}
              esac
            }
            if [[ $funcstack[1] == _heapline ]]; then _heapline "$@"; else compdef _heapline heapline; fi
          ZSH
        end

        private

        def described(behind = nil)
          @known.heads(behind).map { |name, summary| word("#{name}:#{text(summary)}") }.join(" ")
        end

        def commands
          @known.commands.map do |command|
            options = command.options.flat_map do |option|
              option.names.map { |name| word("#{name}[#{text(option.help)}]#{value(option)}") }
            end
            "    #{word(command.name)}) _arguments #{[*options, word(rest(command))].join(" ")} ;;"
          end
        end

        def value(option)
          values = option.choices.empty? ? "_files" : "(#{option.choices.join(" ")})"
          option.value ? ":#{text(option.value)}:#{values}" : ""
        end

        def rest(command)
          words = @known.arguments[command.name]
          return "1:word:(#{words.join(" ")})" if words

          command.runs ? "*::command:_normal" : "*:file:_files"
        end

        def word(text)
          "'#{text.gsub("'", "'\\\\''")}'"
        end

        # In brackets, and between colons.
        def text(words)
          words.gsub(/[\[\]:\\]/) { |char| "\\#{char}" }
        end
      end
    end
  end
end
