# frozen_string_literal: true

# What something costs by how much of it there is, a line for each power of two: a step is a cliff.
# ruby bench/cliffs.rb --help
require "etc"
require "optparse"
require_relative "cliffs/cliff"

HEAD = <<~TEXT
  # What it costs by how much there is

  Written by `rake bench:cliffs`; do not edit. A table for each thing of which production has much, a line for each power
  of two: a column that stays as it is, or falls, has no cliff. *plain* is the program without heapline; where heapline's
  own command is measured (reports, `top`, lists, recordings, heap dumps) that does nothing, or only makes what the
  command reads. Figures are microseconds of processor time, the median of the runs; those of a child and of a spawn
  include what the kernel does. `ruby bench/cliffs.rb NAME` measures one again; [overhead.md](overhead.md) has the rest.
TEXT

# Ends with what was measured where.
def head(runs)
  facts = [Time.now.strftime("%F"), RUBY_DESCRIPTION, "#{Etc.nprocessors} processors", "runs: #{runs}"]
  "#{HEAD}\n#{facts.join(" · ")}.\n"
end

options = { runs: 3 }
page = nil
begin
  OptionParser.new("usage: ruby bench/cliffs.rb [options] [NAMES]") do |parser|
    parser.separator "names: #{Bench::Cliffs::ALL.keys.join(", ")}; by default all"
    parser.on("--runs N", Integer, "measure each size so often; by default 3") { |count| options[:runs] = count }
    parser.on("--most N", Integer, "no size above this power of two") { |power| options[:most] = power }
    parser.on("--output FILE", "write them as a page, too") { |path| page = path }
  end.parse!
  $stdout.sync = true
  text = head(options[:runs])
  tell = lambda do |line|
    print line, "\n"
    text << line << "\n"
  end
  (ARGV.empty? ? Bench::Cliffs::ALL.keys : ARGV).each do |name|
    cliff = Bench::Cliffs.named(name)
    tell.call("\n## #{name}\n")
    cliff.report(**options, &tell)
  end
  File.write(page, text) if page
rescue OptionParser::ParseError, SystemCallError, Bench::Cliffs::Broken => e
  abort "bench: #{e.message}"
end
