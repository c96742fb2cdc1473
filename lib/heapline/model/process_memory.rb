# frozen_string_literal: true

module Heapline
  module Model
    # What the kernel says of a process's memory, in bytes: rss, proportional share, private pages, swap.
    ProcessMemory = Struct.new(:rss_bytes, :pss_bytes, :private_bytes, :swap_bytes, keyword_init: true) do
      def initialize(**fields)
        super
        freeze
      end

      # From /proc/PID/smaps_rollup; nil where the process is gone or another user's.
      def self.read(pid)
        kib = File.foreach("/proc/#{Integer(pid)}/smaps_rollup").each_with_object(Hash.new(0)) do |line, sums|
          sums[Regexp.last_match(1)] += Regexp.last_match(2).to_i if line =~ /\A(\w+):\s+(\d+) kB/
        end
        new(rss_bytes: kib["Rss"] * 1024, pss_bytes: kib["Pss"] * 1024,
            private_bytes: (kib["Private_Clean"] + kib["Private_Dirty"]) * 1024, swap_bytes: kib["Swap"] * 1024)
      rescue SystemCallError
        nil
      end
    end

    # What can be asked for often.
    class ProcessMemory
      PAGE = 4096

      # RSS in bytes from /proc/PID/statm, for which the kernel need not walk the process's pages; nil where it is gone.
      def self.rss(pid)
        File.read("/proc/#{Integer(pid)}/statm").split[1].to_i * PAGE
      rescue SystemCallError
        nil
      end
    end
  end
end
