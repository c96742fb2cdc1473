# frozen_string_literal: true

module Heapline
  module CLI
    module Completion
      # For bash: one function, which looks at the words before the one that is completed.
      class Bash
        def initialize(known)
          @known = known
        end

        def script
          <<~BASH
            _heapline() {
              local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
              local command=run options= valued= values= program= at=1
              COMPREPLY=()
              if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
              if [[ $word == = ]]; then word=; fi
              if (( COMP_CWORD == 1 )) && [[ $word != -* ]]; then
                COMPREPLY=($(compgen -W '#{@known.heads.keys.join(" ")}' -- "$word"))
                if [[ $word ]]; then COMPREPLY+=($(compgen -c -- "$word")); fi
                return
              fi
              case ${COMP_WORDS[1]} in
                heap)
                  if (( COMP_CWORD == 2 )); then
                    COMPREPLY=($(compgen -W '#{@known.heads("heap").keys.join(" ")}' -- "$word"))
                    return
                  fi
                  command="heap ${COMP_WORDS[2]}" at=3 ;;
                #{@known.heads.keys.join("|")}) command=${COMP_WORDS[1]} at=2 ;;
              esac
              case $command in
            #{commands.join("\n")}
              esac
              # Behind the program its own options follow.
              while [[ $program ]] && (( at < COMP_CWORD )); do
                case ${COMP_WORDS[at]} in
                  --) return ;;
                  -*) if [[ $valued == *" ${COMP_WORDS[at]} "* && ${COMP_WORDS[at+1]} != = ]]; then (( at++ )); fi ;;
                  =) (( at++ )) ;;
                  *) return ;;
                esac
                (( at++ ))
              done
              case "$command $before" in
            #{values.join("\n")}
                *) if [[ $valued == *" $before "* ]]; then return; fi
                  case $command in
            #{arguments.join("\n")}
                  esac ;;
              esac
              if [[ $values ]]; then
                COMPREPLY=($(compgen -W "$values" -- "$word"))
              elif [[ $word == -* ]]; then
                COMPREPLY=($(compgen -W "$options" -- "$word"))
              elif [[ $program && $word ]]; then
                COMPREPLY=($(compgen -c -- "$word"))
              fi
            }
            complete -o default -F _heapline heapline
          BASH
        end

        private

        def commands
          @known.commands.map do |command|
            "    '#{command.name}') options='#{command.options.flat_map(&:names).join(" ")}' " \
              "valued=' #{command.options.select(&:value).flat_map(&:names).join(" ")} '" \
              "#{" program=yes" if command.runs} ;;"
          end
        end

        def values
          @known.commands.flat_map do |command|
            command.options.reject { |option| option.choices.empty? }.map do |option|
              words = option.names.map { |name| "'#{command.name} #{name}'" }
              "    #{words.join("|")}) values='#{option.choices.join(" ")}' ;;"
            end
          end
        end

        def arguments
          @known.arguments.map { |name, words| "      #{name}) values='#{words.join(" ")}' ;;" }
        end
      end
    end
  end
end
