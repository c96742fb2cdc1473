# frozen_string_literal: true

require_relative "../model"
require_relative "command"
require_relative "leaks/command_run"
require_relative "leaks/running"
require_relative "loss_rules"
require_relative "output_file"
require_relative "size"

module Heapline
  module CLI
    # `heapline leaks CMD`, `heapline leaks PID`: the blocks that nothing leads to any more, at the end of a program or
    # now.
    class Leaks < Command
      include LossRules

      USAGE_LINE = "leaks [options] PID | leaks [options] [--] COMMAND [ARGUMENTS]"
      SUMMARY = "Find lost blocks: at the end of a command, or in a running process"
      LEAK = 3 # exit status where the command itself ended well
      FORMATS = { "text" => %i[leaks_text LeaksText], "json" => %i[leaks_json LeaksJson],
                  "junit" => %i[leaks_junit LeaksJunit], "html" => %i[leaks_html LeaksHtml] }.freeze
      ENDINGS = { ".json" => "json", ".xml" => "junit", ".html" => "html" }.freeze
      KINDS = %i[definite indirect possible].freeze

      def call(argv)
        words = parse(argv)
        raise UsageError, "which process, or which command? heapline leaks ruby app.rb" if words.empty?

        reader # what is wrong with the rules is said before the command runs
        run = words.one? && words.first.match?(/\A\d{1,10}\z/) ? running(words) : command(words)
        return run.status unless run.texts

        leaks = Model::Leaks.merge(run.texts.map { |text, source| reader.read(text, source) })
        show(leaks)
        leaks.lost? && run.status.zero? ? LEAK : run.status
      end

      private

      def define(parser)
        parser.on("--show-reachable", "blocks that something still leads to, too") { @options[:reachable] = true }
        parser.on("--since BASELINE", %w[baseline], "`baseline`: only blocks born since the process's last baseline") do
          @options[:since] = true
        end
        define_loss_rules(parser)
        define_output(parser)
      end

      def define_output(parser)
        parser.on("--format NAME", FORMATS.keys, "#{FORMATS.keys.join(", ")} (text)") do |value|
          @options[:format] = value
        end
        parser.on("-o", "--output FILE", "write to FILE; #{ENDINGS.keys.join(", ")} choose the format") do |value|
          @options[:output] = value
        end
        parser.on("--top N", "so many records of each kind (0: all)") { |value| @options[:top] = Size.count(value) }
        parser.on("--timeout S", Float, "of a PID: wait so many seconds for the answer (60)") do |value|
          @options[:timeout] = value
        end
      end

      # The rest is the command's.
      def parsing
        :order
      end

      def running(words)
        Running.new(words, @env, @err, **@options.slice(:since, :reachable, :timeout))
      end

      def command(words)
        CommandRun.new(words, @env, @out, @err, **@options.slice(:since, :reachable))
      end

      def show(leaks)
        @err.puts symbols_hint if leaks.any? && !Heapline::Leaks::Symbols.new(@env).tool
        return format(format_name).render(leaks, @out) unless @options[:output]

        OutputFile.write(@options[:output]) { |file| format(format_name).render(leaks, file) }
        @err.puts "heapline: wrote #{@options[:output]}"
      end

      def symbols_hint
        "heapline: functions have no names: none of #{Heapline::Leaks::Symbols::TOOLS.join(", ")} is there; " \
          "#{Heapline::Leaks::Symbols::PACKAGES}"
      end

      def format_name
        @options[:format] || ENDINGS.fetch(File.extname(@options[:output].to_s), "text")
      end

      def format(name)
        file, type = FORMATS[name]
        require_relative "../format/#{file}"
        kinds = @options[:reachable] ? [*KINDS, :reachable] : KINDS
        options = { kinds: kinds }
        options.merge!(top: @options.fetch(:top, 0), directory: Dir.pwd, env: @env) if name == "text"
        Format.const_get(type).new(**options)
      end
    end
  end
end
