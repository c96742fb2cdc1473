# frozen_string_literal: true

require "optparse"

module Bench
  # The command line of bench/run.rb, as plain values.
  class Options
    PAGE = File.expand_path("../../docs/overhead.md", __dir__)

    attr_reader :only, :tools, :runs, :quick, :ruby, :yjit, :output, :save, :merge, :measure

    def initialize(arguments, environment = ENV)
      @only = []
      @tools = Tools::NAMES
      @runs = 7
      @quick = false
      @ruby = environment["RUBY"] || RbConfig.ruby
      @yjit = true
      @merge = []
      @measure = true
      parser.parse!(arguments.dup)
    end

    # Where the page goes: a part of the suite, or one that was not judged, must not replace the whole one's.
    def page
      output || (PAGE if only.empty? && tools == Tools::NAMES && !quick)
    end

    # The Rubies to measure: the one that was asked for and, where it has it, the same with YJIT.
    def interpreters
      return [] unless measure

      plain = Interpreter.new(ruby)
      [plain, (plain.with_yjit if yjit)].compact
    end

    private

    def parser
      OptionParser.new do |parser|
        parser.banner = "usage: ruby bench/run.rb [options]"
        which(parser)
        where(parser)
      end
    end

    def which(parser)
      parser.on("--only NAMES", Array, "only these workloads, separated by commas") { |names| @only = names }
      tools = [*Tools::NAMES.drop(1), *Tools::ALSO].join(", ")
      parser.on("--tools NAMES", Array, "beside plain only these: #{tools}") do |names|
        @tools = tools_named(names)
      end
      parser.on("--runs N", Integer, "rounds (#{@runs}); five times as many for starts") { |n| @runs = positive(n) }
      parser.on("--quick", "one small round, without Rails: does it work? Its times mean nothing") { @quick = true }
      parser.on("--ruby PATH", "the Ruby to measure (the variable RUBY, else this one)") { |path| @ruby = path }
      parser.on("--[no-]yjit", "also with YJIT, where that Ruby has it (yes)") { |yes| @yjit = yes }
    end

    def where(parser)
      parser.on("--output FILE", "the page (docs/overhead.md; none with --only or --quick)") { |path| @output = path }
      parser.on("--save FILE", "keep the figures; \"-yjit\" is added for those with YJIT") { |path| @save = path }
      parser.on("--no-measure", "write the page from merged files alone") { @measure = false }
      parser.on("--merge FILES", Array, "add what other runs saved, of other Rubies") { |paths| @merge = paths }
    end

    def tools_named(names)
      unknown = names - Tools::NAMES - Tools::ALSO
      raise OptionParser::InvalidArgument, unknown.join(", ") unless unknown.empty?

      ["plain", *names].uniq
    end

    def positive(number)
      return number if number.positive?

      raise OptionParser::InvalidArgument, "at least 1"
    end
  end
end
