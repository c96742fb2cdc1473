# frozen_string_literal: true

require_relative "../errors"
require_relative "../figures/typed"

module Heapline
  module Accounting
    # The options of a run, which are also the keys of the environment variable HEAPLINE (`key:value,key:value`): there
    # they reach the core, the reporter and every child. One table is the source of both.
    module RunOptions
      # key in HEAPLINE; kind of value; switch and help on the command line. needs: key of the option without which it
      # has no effect, or nil; range: of a number, or nil
      Option = Struct.new(:key, :kind, :switch, :help, :needs, :range, keyword_init: true) do
        def name
          switch.last[/\A--[\w-]+/]
        end
      end

      ALL = [
        Option.new(key: :quiet, kind: :flag, switch: ["-q", "--quiet"], help: "no report at the end"),
        Option.new(key: :output, kind: :path, switch: ["-o", "--output FILE"],
                   help: "write the report to FILE: .heapline (flight file), .html, .json, .csv, .pb.gz, … else text"),
        Option.new(key: :top, kind: :count, switch: ["--top N"], help: "rows of the report (20; 0: all)"),
        Option.new(key: :sort, kind: :sort, switch: ["--sort KEY"],
                   help: "sort by growth, retained, live, bytes, blocks, allocs, frees, temporary, life"),
        Option.new(key: :min, kind: :bytes, switch: ["--min BYTES"],
                   help: "only rows with BYTES or more, live or of growth"),
        Option.new(key: :objects, kind: :flag, switch: ["--objects"],
                   help: "count Ruby objects too, by line and class"),
        Option.new(key: :nofollow, kind: :flag, switch: ["--no-follow"], help: "do not count child processes"),
        Option.new(key: :keep, kind: :flag, switch: ["--keep"], help: "keep the flight file after a normal end"),
        Option.new(key: :gc, kind: :flag, switch: ["--gc"], help: "run a full GC before the report"),
        Option.new(key: :mwrap, kind: :flag, switch: ["--mwrap"],
                   help: "make require \"mwrap\" load a compatible Mwrap; keeps blocks"),
        Option.new(key: :tags, kind: :flag, switch: ["--tags"],
                   help: "let the program require heapline for its tags, without a change to the Gemfile"),
        Option.new(key: :api, kind: :flag, switch: ["--public-api"],
                   help: "ask Ruby through its public API only, read none of its structs (slower)"),
        Option.new(key: :blocks, kind: :flag, switch: ["--blocks"],
                   help: "keep address and stacks of each live block, for heapline leaks PID and Heapline[…].each"),
        Option.new(key: :quarantine, kind: :flag, switch: ["--quarantine"], needs: :blocks,
                   help: "with --blocks: use freed memory again later, so that old pointers hide fewer losses"),
        Option.new(key: :core, kind: :flag, switch: ["--core"],
                   help: "keep the lines in core files, so that heapline core needs no flight file"),
        Option.new(key: :any, kind: :flag, switch: ["--any"],
                   help: "count programs that are not Ruby too, by library, function and line"),
        Option.new(key: :off, kind: :flag, switch: ["--off"],
                   help: "count nothing until the program calls Heapline.start"),
        Option.new(key: :internal, kind: :flag, switch: ["--internal"],
                   help: "show methods of Ruby itself that are written in Ruby (<internal:array>:246) as lines"),
        Option.new(key: :sites, kind: :count, switch: ["--sites N"], range: 64..1_048_576,
                   help: "the most sites that are told apart (1048576; at least 64); all others count as (other)"),
        Option.new(key: :log, kind: :pattern, switch: ["--log FILE"],
                   help: "write a growth log while the command runs; %p in FILE: the pid, %h: the host"),
        Option.new(key: :every, kind: :seconds, switch: ["--every S"], needs: :log,
                   help: "with --log: seconds between lines of the log (60)"),
        Option.new(key: :rss, kind: :bytes, switch: ["--rss BYTES"], needs: :log,
                   help: "with --log: copy the flight file to the log's directory once RSS reaches BYTES"),
        Option.new(key: :logmax, kind: :bytes, switch: ["--log-max BYTES"], needs: :log,
                   help: "with --log: the most that FILE and FILE.1, its older half, may have (100M; 0: no limit)")
      ].freeze
      KEYS = ALL.to_h { |option| [option.key, option] }.freeze

      # Declare some of them to an OptionParser; what the command line has goes into `given`.
      def self.define(parser, options, given)
        options.each do |option|
          parser.on(*option.switch, option.help) do |value|
            given[option.key] = convert(option, option.kind == :flag ? true : value)
          end
        end
      end

      # Raises UsageError for what the command line asks for in vain. given: its options; all: with those of HEAPLINE,
      # where what lacks another one is no harm to a program.
      def self.check(given, all)
        given.each do |key, value|
          option = KEYS.fetch(key)
          raise UsageError, "#{option.name} needs #{KEYS.fetch(option.needs).switch.last}" unless
            option.needs.nil? || all[option.needs]

          taken(option, option.name, value)
        end
      end

      # The value. Raises UsageError where the option, which was typed as `name`, does not take it.
      def self.taken(option, name, value)
        raise UsageError, "#{name} takes #{option.range.minmax.join(" to ")}, not #{value}" unless
          option.range.nil? || option.range.cover?(value)

        option.kind == :pattern ? Figures::Typed.named(name) { Figures::Typed.pattern(value) } : value
      end

      # The value of HEAPLINE as a Hash. Raises UsageError for a key or value that does not exist.
      def self.from_env(text)
        text.to_s.split(",").reject(&:empty?).to_h do |entry|
          name, value = entry.split(":", 2)
          option = KEYS[name.strip.to_sym] || raise(UsageError, "HEAPLINE: no such key: #{name.inspect}; it knows " \
                                                                "#{KEYS.keys.join(", ")}")
          value = Figures::Typed.named(option.key) { convert(option, value && decode(value)) }
          [option.key, taken(option, option.key, value)]
        end
      rescue UsageError => e
        raise UsageError, e.message.start_with?("HEAPLINE") ? e.message : "HEAPLINE: #{e.message}"
      end

      # The Hash as a value for HEAPLINE. "," and "%" in values are written %2C and %25.
      def self.to_env(options)
        options.select { |_, value| value }.map do |key, value|
          value == true ? key.to_s : "#{key}:#{value.to_s.gsub(/[%,]/) { |char| format("%%%02X", char.ord) }}"
        end.join(",")
      end

      # The value of one option as its kind demands.
      def self.convert(option, value)
        return flag(option, value) if option.kind == :flag
        raise UsageError, "#{option.key} needs a value" if value.to_s.empty?

        case option.kind
        when :count then Figures::Typed.count(value)
        when :bytes then Figures::Typed.bytes(value)
        when :seconds then Figures::Typed.seconds(value)
        when :sort then sort(value)
        else value
        end
      end

      # A sort key (Symbol).
      def self.sort(value)
        sort_keys.find { |known| known.to_s == value } ||
          raise(UsageError, "no such sort key: #{value.inspect}; there are #{sort_keys.join(", ")}")
      end

      def self.sort_keys
        require_relative "../figures/site_figures" # not before each program that heapline becomes
        Figures::SiteFigures::KEYS
      end

      def self.flag(option, value)
        raise UsageError, "#{option.key} takes no value" unless [nil, true].include?(value)

        true
      end

      def self.decode(value)
        value.gsub(/%(2C|25)/i) { |code| code[1..].hex.chr }
      end
      private_class_method :taken, :flag, :decode
    end
  end
end
