# frozen_string_literal: true

require "rbconfig"
require "tempfile"
require_relative "dump"

module Bench
  module Heap
    # Has each tool read one dump, each in a process of its own, and prints a table.
    class Readers
      ROOT = File.expand_path("../..", __dir__)
      # Exact versions, so that two measurements can be compared.
      GEMS = { "heapy" => "0.2.0", "sheap" => "0.3.0", "heap-profiler" => "0.9.0" }.freeze
      HOME = File.join(Dump::FOLDER, "heap-gems")
      # Bundler's own would put the gems elsewhere.
      SURROUNDINGS = { "GEM_HOME" => HOME, "GEM_PATH" => HOME, "RUBYOPT" => nil, "RUBYLIB" => nil,
                       "BUNDLE_GEMFILE" => nil }.freeze
      MEGABYTE = 1e6

      OPEN = 'require "heapline/heap_dump"; dump = Heapline::HeapDump.open(ARGV[0]'
      OURS = {
        "heapline, histogram by class" => "#{OPEN}); dump.histogram",
        "heapline, histogram and duplicate strings" => "#{OPEN}, strings: true); dump.duplicate_strings",
        "heapline, index and shortest paths" => "#{OPEN}, index: true); " \
                                                'dump.path(dump.instances_of("String", limit: 1).first)',
        "heapline, index and dominators" => "#{OPEN}, index: true); dump.dominators.top; dump.dominators.by_class"
      }.freeze
      PEERS = {
        "heapy, by generation" => 'load Gem.bin_path("heapy", "heapy")',
        "sheap, histogram by class" => 'require "sheap"; sums = Hash.new(0); Sheap::Heap.new(ARGV[0]).objects' \
                                       ".each { |one| sums[one.class_addr] += one.memsize.to_i }",
        "heap-profiler, report" => 'load Gem.bin_path("heap-profiler", "heap-profiler")'
      }.freeze
      # What stands before the file: heap-profiler needs room for the longest line.
      WORDS = { "heapy, by generation" => %w[read], "heap-profiler, report" => %w[--batch-size 256MB] }.freeze
      # Prints the most memory that the process had, in kB, where the reader waits for it.
      PEAK = 'at_exit { File.write(ENV.fetch("PEAK"), File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1]) }; '

      def initialize(path, peers:)
        @path = path
        @peers = peers
      end

      def report(io)
        install if @peers
        io.puts format("%s: %.1f MB", @path, File.size(@path) / MEGABYTE)
        io.puts "| | seconds | CPU seconds | MB/s | peak MB | of the file |", "|---|---|---|---|---|---|"
        (@peers ? OURS.merge(PEERS) : OURS).each { |name, program| io.puts row(name, *measure(name, program)) }
      end

      private

      def install
        return if File.directory?(HOME)

        GEMS.each do |name, version|
          made = system(SURROUNDINGS, RbConfig.ruby, "-S", "gem", "install", "--no-document", name, "-v",
                        version, out: File::NULL)
          raise Broken, "gem install #{name} failed" unless made
        end
      end

      # [seconds, seconds of all processors, peak in bytes]
      def measure(name, program)
        Tempfile.create("peak") do |peak|
          begun = now
          busy = processors
          done = system({ "PEAK" => peak.path, **SURROUNDINGS }, RbConfig.ruby, "-I#{ROOT}/lib", "-e",
                        PEAK + program, "--", *WORDS.fetch(name, []), @path, out: File::NULL)
          raise Broken, "#{name} failed" unless done

          [now - begun, processors - busy, peak.read.to_i * 1024]
        end
      end

      def row(name, seconds, busy, peak)
        size = File.size(@path)
        format("| %s | %.2f | %.2f | %.0f | %.0f | %.2f |", name, seconds, busy, size / seconds / MEGABYTE,
               peak / MEGABYTE, peak.fdiv(size))
      end

      # What the children that have ended used.
      def processors
        Process.times.then { |times| times.cutime + times.cstime }
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
