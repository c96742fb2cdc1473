# frozen_string_literal: true

require "fileutils"
require "shellwords"
require "tmpdir"

module Tasks
  # The examples that `heapline help COMMAND` shows: commands as they are typed, with what they printed. They are run on
  # a small program that grows; only the pid, the directory and what is long are put in order.
  class HelpExamples
    DIRECTORY = File.join(ROOT, "lib/heapline/cli/examples")
    PID = 4711
    INSTALLED = "/gems/heapline"
    WIDTH = 100
    LINES = 16

    SHOP = <<~RUBY
      class Receipts
        def initialize
          @cache = {}
        end

        def render(order)
          @cache[order] = "receipt \#{order} " * 60
        end
      end

      RECEIPTS = Receipts.new
      (ARGV.first || 2000).to_i.times { |order| RECEIPTS.render(order) }
    RUBY
    SERVER = <<~RUBY
      require_relative "shop"
      order = 2000
      def work(order) = 100.times { |i| RECEIPTS.render(order + i) }
      loop { work(order += 100); sleep 0.05 }
    RUBY
    TESTS = <<~RUBY
      require "minitest/autorun"
      require_relative "shop"
      class ReceiptsTest < Minitest::Test
        def test_render = assert_match(/receipt 7/, RECEIPTS.render(7))
        def test_many = 500.times { |order| RECEIPTS.render(10_000 + order) }
      end
    RUBY
    LOST = <<~RUBY
      require "fiddle"
      def thumbnail = Fiddle.malloc(4096)
      100.times { thumbnail }
    RUBY
    FILES = { "shop.rb" => SHOP, "server.rb" => SERVER, "shop_test.rb" => TESTS, "lost.rb" => LOST }.freeze

    # Of each command what is typed: of a program of its own, then of the server while it runs, in this order. What
    # begins with "_" is only made for those that follow.
    BEFORE = { "run" => "heapline ruby shop.rb", "leaks" => "heapline leaks ruby lost.rb",
               "test" => "heapline test ruby shop_test.rb", "record" => "heapline record -o shop.hlc ruby shop.rb 300",
               "replay" => "heapline replay shop.hlc", "env" => "heapline env --for docker",
               "doctor" => "heapline doctor", "version" => "heapline version",
               "completion" => "heapline completion bash" }.freeze
    MEANWHILE = { "ps" => "heapline ps", "snapshot" => "heapline snapshot PID -o before.heapline",
                  "report" => "heapline report PID --top 5", "top" => "heapline top --once --top 5 PID",
                  "rss" => "heapline rss PID", "stack" => "heapline stack PID", "pages" => "heapline pages PID",
                  "code" => "heapline code PID --top 5", "trim" => "heapline trim PID",
                  "heap dump" => "heapline heap dump PID -o shop.json", "heap stat" => "heapline heap stat shop.json",
                  "heap histo" => "heapline heap histo shop.json --top 5",
                  "heap find" => "heapline heap find shop.json Receipts --path",
                  "heap dominators" => "heapline heap dominators shop.json --top 5",
                  "heap report" => "heapline heap report shop.json -o shop.html",
                  "heap graph" => "heapline heap graph shop.json --nodes 5",
                  "_later" => "heapline heap dump PID -o later.json",
                  "heap diff" => "heapline heap diff shop.json later.json --top 5",
                  "_after" => "heapline snapshot PID -o after.heapline",
                  "diff" => "heapline diff before.heapline after.heapline --top 5",
                  "baseline" => "heapline baseline PID", "dump" => "heapline dump PID -o shop.core",
                  "core" => "heapline core shop.core --top 5", "growth" => "heapline growth shop.jsonl --top 5" }.freeze
    LOG = "heapline log --every 0.5 -o shop.jsonl PID"

    # into: the directory that gets a file for each command
    def write(into = DIRECTORY)
      @into = into
      FileUtils.mkdir_p(into)
      Dir.mktmpdir("heapline-help") do |directory|
        @directory = directory
        FILES.each { |name, text| File.write(File.join(directory, name), text) }
        BEFORE.each { |name, command| show(name, command) }
        serving { MEANWHILE.each { |name, command| show(name, command) } }
      end
    end

    private

    # The server runs, and is logged, meanwhile.
    def serving
      server = spawn(environment, *%w[heapline -q ruby server.rb], chdir: @directory, err: File::NULL)
      @pid = server
      sleep 2
      log = spawn(environment, *LOG.sub("PID", @pid.to_s).split, chdir: @directory)
      keep("log", "$ #{LOG.sub("PID", PID.to_s)}\n")
      yield
    ensure
      [log, server].compact.each { |pid| Process.kill(:TERM, pid) && Process.wait(pid) }
    end

    def environment
      { "PATH" => "#{ROOT}/exe:#{ENV.fetch("PATH")}", "COLUMNS" => WIDTH.to_s, "LANG" => "C.UTF-8", "NO_COLOR" => "1",
        "HOME" => @directory, "HEAPLINE_DIR" => @directory, **PlainRuby::ENVIRONMENT }
    end

    def show(name, command)
      _, output = Shell.capture("sh", "-c", command.gsub("PID", @pid.to_s), env: environment, dir: @directory)
      keep(name, "$ #{command.gsub("PID", PID.to_s)}\n#{short(output)}") unless name.start_with?("_")
    end

    def keep(name, text)
      File.write(File.join(@into, "#{name.tr(" ", "_")}.txt"), text)
    end

    def short(output)
      output = output.gsub(/\b#{@pid}\b/, PID.to_s) if @pid
      output = output.gsub(/(?<=pid |process )\d+/, PID.to_s).gsub(ROOT, INSTALLED)
      lines = output.gsub("#{@directory}/", "").gsub(@directory, "/home/me").gsub(/\n\n+/, "\n\n").lines
      lines = [*lines.first(LINES - 1), "  …\n"] if lines.size > LINES
      lines.map { |line| "#{line.rstrip}\n" }.join
    end
  end
end
