# frozen_string_literal: true

module Heapline
  module CLI
    module Completion
      # A command's name, its summary, whether a program follows its options, and these.
      Command = Struct.new(:name, :summary, :runs, :options, keyword_init: true)
      # names: as they are typed. value: the word for it; nil: it takes none. choices: the values that there are.
      Option = Struct.new(:names, :value, :choices, :help, keyword_init: true)

      # What there is to complete: COMMANDS, and what each of them declares to its parser.
      class Known
        # shells: what `heapline completion` takes
        def initialize(shells)
          @shells = shells
        end

        def commands
          @commands ||= COMMANDS.keys.map { |name| command(name, CLI.command(name)) }
        end

        # The name and the summary of the commands of one word, or of the second words behind one.
        def heads(behind = nil)
          found = commands.select { |one| behind ? one.name.start_with?("#{behind} ") : !one.name.include?(" ") }
          found.to_h { |one| [one.name.split.last, one.summary] }
        end

        # Commands whose arguments are known words.
        def arguments
          { "completion" => @shells, "help" => heads.keys }
        end

        private

        def command(name, type)
          switches = type.new.parser.top.list.grep(OptionParser::Switch)
          Command.new(name: name, summary: type::SUMMARY, runs: type::USAGE_LINE.include?("COMMAND [ARGUMENTS]"),
                      options: switches.map { |switch| option(switch) })
        end

        def option(switch)
          values = switch.arg && switch.pattern.is_a?(Hash) ? switch.pattern.keys : []
          Option.new(names: switch.short + switch.long, value: switch.arg&.strip, choices: values.map(&:to_s),
                     help: switch.desc.join(" "))
        end
      end
    end
  end
end
