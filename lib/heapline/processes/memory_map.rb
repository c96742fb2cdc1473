# frozen_string_literal: true

require_relative "../frozen"
require_relative "../files/input"

module Heapline
  module Processes
    # The mappings of a process and how much of each is resident. Frozen; Enumerable over its mappings, by address.
    class MemoryMap
      include Enumerable

      # One mapping: addresses (finish is behind the end), access ("rw-p"), file offset, name (path, "[heap]" or ""),
      # bytes that are resident, the kernel's flags ("nr" "dd" …).
      Mapping = Struct.new(:start, :finish, :access, :offset, :name, :rss_bytes, :flags, keyword_init: true) do
        def anonymous?
          name.empty? && access.end_with?("p")
        end

        def writable?
          access.start_with?("rw")
        end

        def executable?
          access[2] == "x"
        end

        # A guard: nothing may touch it.
        def closed?
          access.start_with?("---")
        end

        def bytes
          finish - start
        end

        def flagged?(*wanted)
          (wanted - flags).empty?
        end
      end

      PAGE = 4096
      LOADED = 1 # PT_LOAD
      HEAD = /\A(\h+)-(\h+) (\S{4}) (\h+) \S+ \d+ *(.*)\n?\z/

      # From /proc/PID/smaps; nil where the process is gone or another user's.
      def self.read(pid)
        directory = "/proc/#{Integer(pid)}"
        text = File.binread("#{directory}/smaps")
        parse(text, directory: directory) unless text.empty?
      rescue SystemCallError
        nil
      end

      # `text` as /proc/PID/smaps has it; directory: where the process's pagemap and root are, nil: nowhere.
      def self.parse(text, directory: nil)
        mappings = []
        text.each_line do |line|
          if (head = line.match(HEAD))
            mappings << mapping(*head.captures)
          elsif line.start_with?("Rss:")
            mappings.last.rss_bytes = line[4..].to_i * 1024
          elsif line.start_with?("VmFlags:")
            mappings.last.flags = line.split.drop(1)
          end
        end
        new(mappings, directory: directory)
      end

      def self.mapping(start, finish, access, offset, name)
        Mapping.new(start: start.hex, finish: finish.hex, access: access, offset: offset.hex, rss_bytes: 0, flags: [],
                    name: name.dup.force_encoding(Encoding::UTF_8))
      end
      private_class_method :mapping

      def initialize(mappings, directory: nil)
        @mappings = mappings.each(&:freeze).freeze
        @directory = directory
        freeze
      end

      def each(&)
        @mappings.each(&)
      end

      def rss_bytes
        sum(&:rss_bytes)
      end

      # The mapping as two, cut at `address`; as it is where that does not lie inside. How much of each is resident the
      # kernel says page by page; where it cannot be asked, the lower one gets what fits.
      def split(mapping, address)
        return [mapping] unless address > mapping.start && address < mapping.finish

        low = pages(mapping.start, address)&.sum&.*(PAGE)
        low = [low || mapping.rss_bytes, mapping.rss_bytes, address - mapping.start].min
        lower = mapping.dup.tap { |part| part.finish = address }
        upper = mapping.dup.tap { |part| part.start = address }
        lower.rss_bytes = low
        upper.rss_bytes = mapping.rss_bytes - low
        [lower.freeze, upper.freeze]
      end

      # The end of the memory that the ELF file `mapping` (its part at offset 0) is loaded to, with its zeroed data;
      # nil where the file cannot be read.
      def load_end(mapping)
        return nil unless @directory

        segments = segments_of("#{@directory}/root#{mapping.name}")
        return nil if segments.empty?

        bias = mapping.start - (segments.map(&:first).min & -PAGE)
        end_of = segments.map { |address, size| address + size }.max
        bias + ((end_of + PAGE - 1) & -PAGE)
      end

      # Of each page between two addresses 1 where it is resident, or 0; nil where the kernel does not tell.
      def pages(start, finish)
        return nil unless @directory

        words = File.open("#{@directory}/pagemap", "rb") do |file|
          file.pread((finish - start) / PAGE * 8, start / PAGE * 8)
        end
        words.unpack("Q*").map { |word| word[63] }
      rescue SystemCallError, EOFError
        nil
      end

      private

      # [address, bytes] of each segment that the 64-bit ELF file at `path` wants loaded; none where it is no such file.
      def segments_of(path)
        Input.open(path, pipe: false) do |file|
          head = file.beginning(64)
          next [] unless head.bytesize == 64 && head.start_with?("\x7FELF\x02".b)

          place, size, count = head.unpack("@32Q@54SS")
          next [] if size < 48 || count.zero?

          table = file.at(place, size * count)
          segments = Array.new(count) { |i| table.byteslice(i * size, size).unpack("L@16Q@40Q") }
          segments.filter_map { |type, address, bytes| [address, bytes] if type == LOADED }
        end
      rescue InputError
        []
      end
    end

    # What the kernel says of a process's memory, in bytes: rss, proportional share, private pages, swap.
    ProcessMemory = Struct.new(:rss_bytes, :pss_bytes, :private_bytes, :swap_bytes, keyword_init: true) do
      include Frozen

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
