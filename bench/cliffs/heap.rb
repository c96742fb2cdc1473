# frozen_string_literal: true

require "json"
require "stringio"
require "tmpdir"
require "heapline/cli"

# What a command answers of a heap dump, all rows of it, where there are so many classes, each with an object of a line
# of its own that the one before refers to. The second argument is the command.
CLASSES = Integer(ARGV.first)
COMMANDS = {
  "histo" => %w[histo --top 0 --json], "lines" => %w[histo --by line --top 0 --json], "stat" => %w[stat --top 0 --json],
  "diff" => %w[diff --top 0 --json], "dominators" => %w[dominators --by class --top 0 --json],
  "find" => %w[find --top 0 --json], "report" => %w[report]
}.freeze

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
def address(number) = format("0x%x", (number + 1) * 40)

# Objects have the even addresses, their classes those after them.
def lines(number)
  klass = address((2 * number) + 1)
  [{ address: address(2 * number), type: "OBJECT", class: klass, references: [address(2 * (number + 1))], memsize: 40,
     file: "/app/models/#{number / 100}.rb", line: (number % 100) + 1, generation: 7 },
   { address: klass, type: "CLASS", name: "Made#{number}", references: [], memsize: 500 }]
end

def write(path, classes)
  File.open(path, "w") do |file|
    file.puts JSON.generate(type: "ROOT", root: "vm", references: [address(0)])
    classes.times { |number| lines(number).each { |line| file.puts JSON.generate(line) } }
  end
  path
end

def ask(words)
  out = StringIO.new
  status = Heapline::CLI.start(["heap", *words], out: out, err: out)
  abort out.string unless status.zero?
end

Dir.mktmpdir do |folder|
  name, *options = COMMANDS.fetch(ARGV.fetch(1))
  files = [write(File.join(folder, "all.json"), CLASSES)]
  files.unshift(write(File.join(folder, "half.json"), CLASSES / 2)) if name == "diff"
  files << address(0) if name == "find"
  begun = now
  ask([name, *options, *files])
  puts format("%.6f", (now - begun) * 1e6 / CLASSES)
end
