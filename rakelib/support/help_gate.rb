# frozen_string_literal: true

require "fileutils"
require "shellwords"

module Tasks
  # What `heapline help COMMAND` shows of each command is there and can be typed, and the manual page that is stored is
  # what heapline would write now.
  class HelpGate < Gate
    MANUAL = "man/heapline.1"
    EXAMPLES = "lib/heapline/cli/examples"
    # Of these there is nothing to show; heap has commands of its own.
    WITHOUT = %w[heap help serve].freeze

    def name
      "help"
    end

    def write_manual
      FileUtils.mkdir_p(File.join(@root, File.dirname(MANUAL)))
      File.write(File.join(@root, MANUAL), manual)
    end

    private

    def patterns
      ["#{EXAMPLES}/*.txt", MANUAL]
    end

    def check
      load_cli
      missing + files.grep(/\.txt\z/).flat_map { |file| typed(file) } + stale
    end

    def missing
      (Heapline::CLI::COMMANDS.keys - WITHOUT).map { |name| "#{EXAMPLES}/#{name.tr(" ", "_")}.txt" }
                                              .reject { |file| files.include?(file) }
                                              .map { |file| "#{file} is not there: rake docs:help" }
    end

    def read(file)
      File.read(File.join(@root, file), encoding: "UTF-8")
    end

    # Each line behind "$ " is a command whose options exist.
    def typed(file)
      read(file).lines(chomp: true).grep(/\A\$ heapline /).filter_map do |line|
        wrong = wrong(line.delete_prefix("$ heapline "))
        "#{file} types what heapline does not take: #{wrong}" if wrong
      end
    end

    # The first option that the command does not have, or nil.
    def wrong(line)
      words = Shellwords.split(line)
      name = [words.first(2).join(" "), words.first, "run"].find { |one| Heapline::CLI::COMMANDS.key?(one) }
      switches = Heapline::CLI.command(name).new.parser.top.list.grep(OptionParser::Switch)
      known = switches.flat_map { |switch| switch.short + switch.long }
      words.grep(/\A-/).find { |word| !known.include?(word) }
    end

    def stale
      return [] if File.exist?(File.join(@root, MANUAL)) && read(MANUAL) == manual

      ["#{MANUAL} is not what heapline help --man writes: rake docs:manual"]
    end

    def manual
      load_cli
      "#{Heapline::CLI::ManPage.new.text}\n"
    end

    # The commands of this checkout, whichever is looked at: they are code that runs here.
    def load_cli
      $LOAD_PATH.unshift(File.join(ROOT, "lib")) unless $LOAD_PATH.include?(File.join(ROOT, "lib"))
      %w[cli cli/commands cli/man_page].each { |file| require "heapline/#{file}" }
    end
  end
end
