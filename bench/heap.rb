# frozen_string_literal: true

# How fast heap dumps are read, beside other tools on the same dump: ruby bench/heap.rb --help
require "optparse"
require_relative "heap/dump"
require_relative "heap/readers"

options = { objects: 6_000_000, peers: true }
begin
  OptionParser.new("usage: ruby bench/heap.rb [options]") do |parser|
    parser.on("--objects N", Integer, "about so many objects in the dump; by default 6000000") do |count|
      options[:objects] = count
    end
    parser.on("--file FILE", "this dump, and not a new one") { |path| options[:file] = path }
    parser.on("--[no-]peers", "also with heapy, sheap and heap-profiler; they are installed below tmp/") do |peers|
      options[:peers] = peers
    end
  end.parse!
  path = options[:file] || Bench::Heap::Dump.new(options[:objects]).make
  Bench::Heap::Readers.new(path, peers: options[:peers]).report($stdout)
rescue OptionParser::ParseError, SystemCallError, Bench::Heap::Broken => e
  abort "bench: #{e.message}"
end
