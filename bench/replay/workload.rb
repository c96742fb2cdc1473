# frozen_string_literal: true

require "fileutils"
require "rbconfig"

module Bench
  module Replay
    class Broken < StandardError; end

    # A program of workloads/: run plainly, with its allocator's memory looked at, and recorded.
    class Workload
      ROOT = File.expand_path("../..", __dir__)
      SCRATCH = File.join(ROOT, "tmp/bench-replay")
      EVERY = 0.01 # seconds between two looks
      HERE = File.join(ROOT, "bench/replay/workloads")
      # Each with the folder that it lies in.
      FOLDERS = { "strings" => HERE, "documents" => HERE, "buffers" => HERE, "worker" => File.join(ROOT, "examples"),
                  "puma" => HERE }.freeze
      NAMES = FOLDERS.keys.freeze

      attr_reader :name

      def initialize(name)
        raise Broken, "no such workload: #{name}; there are #{NAMES.join(", ")}" unless NAMES.include?(name)

        @name = name
        FileUtils.mkdir_p(SCRATCH)
      end

      # The most RSS that malloc had, in bytes, as /proc/PID/smaps tells every 10 ms: the heap, and anonymous mappings
      # that the program did not make for itself.
      def peak
        pid = Process.spawn({ "LD_PRELOAD" => marker }, *command)
        waiter = Process.detach(pid)
        most = 0
        while waiter.alive?
          most = [most, owned(pid)].max
          IO.select(nil, nil, nil, EVERY)
        end
        waiter.value.success? ? most : raise(Broken, "#{name} failed")
      end

      # Path of its capture, made anew.
      def record
        FileUtils.rm_f(capture)
        heapline = [RbConfig.ruby, File.join(ROOT, "exe/heapline"), "record", "-o", capture]
        system(*heapline, *command, out: File::NULL, err: File::NULL) or raise Broken, "#{name} cannot be recorded"
        capture
      end

      # Path of the last one.
      def capture
        File.join(SCRATCH, "#{name}.hlc")
      end

      private

      def command
        [RbConfig.ruby, File.join(FOLDERS.fetch(name), "#{name}.rb")]
      end

      def marker
        path = File.join(SCRATCH, "owned.so")
        return path if File.exist?(path)

        source = File.join(__dir__, "owned.c")
        system("gcc", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-o", path, source, "-ldl") or
          raise Broken, "#{source} does not compile"
        path
      end

      def owned(pid)
        mappings(File.read("/proc/#{pid}/smaps")).sum { |name, rss, flags| malloc?(name, flags) ? rss : 0 }
      rescue SystemCallError
        0
      end

      # [name, bytes, flags] of those without a file.
      def mappings(smaps)
        smaps.split(/^(?=\h+-\h+ )/).filter_map do |text|
          inode, name = text[/\A.*/].split(" ", 6).values_at(4, 5)
          [name.to_s.strip, text[/^Rss:\s+(\d+)/, 1].to_i * 1024, text[/^VmFlags:.*/]] if inode == "0"
        end
      end

      def malloc?(name, flags)
        name == "[heap]" || (name.empty? && !flags.to_s.match?(/ dd\b/))
      end
    end
  end
end
