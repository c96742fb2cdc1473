# frozen_string_literal: true

require_relative "../accounting/process_identity"
require_relative "../attach/machine"
require_relative "../errors"

module Heapline
  # @api private
  module Corefile
    # Writes the core file of a process as it was at one moment, from a copy of it (Native.copy_process) whose memory
    # stands still. In it is what the kernel has in cores: what the process wrote, and of files that are mapped and were
    # not written to their beginnings; and its flight file. Left out are other shared mappings of files, and what of the
    # memory was never touched.
    class CoreWriter
      # A mapping: addresses; how it may be used ("rw-p"); offset, device, inode and name of a file.
      Mapping = Struct.new(:begin, :end, :access, :offset, :device, :inode, :path) do
        def bytes = self.end - self.begin
        def shared? = access[3] == "s"
        def writable? = access[1] == "w"
        def file? = inode.positive?
        # Shared between processes, and in no file: /dev/zero, memfd, System V.
        def shared_memory? = shared? && path.match?(%r{\A/(?:dev/zero|memfd:|SYSV)})
        # ELF's bits: 4 read, 2 write, 1 execute.
        def flags = %w[x w r].each_with_index.sum { |letter, bit| access.include?(letter) ? 1 << bit : 0 }
      end

      # Memory from `begin` to `end` of a mapping, of which the first bytes are in the file, as runs from there on,
      # [offset, bytes]; `source` has them, from `at` on.
      Part = Struct.new(:mapping, :begin, :end, :bytes, :runs, :source, :at)

      LINE = /\A(\h+)-(\h+) (\S{4}) (\h+) (\h+:\h+) (\d+) *(.*)\n\z/
      KERNELS = %w[[vsyscall] [vvar] [vvar_vclock]].freeze
      PAGE = 4096
      # Of a word of pagemap: the page is there, or swapped out; it is a file's, or shared.
      THERE = 3 << 62
      OTHERS = 1 << 61
      PAGES_AT_ONCE = 1 << 16
      # So many bytes at the beginning of a mapping (a stack) that were not touched are a part of no bytes in the file.
      GAP = 1 << 17
      AT_ONCE = 1 << 20
      NOTES = { status: 1, about: 3, auxiliary: 6, files: 0x46494c45 }.freeze
      HEADER = 64
      PART_HEADER = 56
      # More parts than a header can say: the first section says it.
      MANY = 0xffff

      # pid: the process; threads: [number, registers] of each; flight: [File, bytes, File::Stat of the process's own],
      # a copy of its flight file; nil: it has none.
      def initialize(copy, pid:, threads:, flight: nil)
        @copy = copy
        @pid = pid
        @threads = threads.partition { |thread, _| thread == pid }.flatten(1)
        @flight = flight
      end

      # Into an IO, from its beginning to its end; yields bytes written now and then. Bytes of memory that are in it.
      # Raises Error where the copy was killed meanwhile: what is read of it then is nothing.
      def write(file, &)
        @file = file
        @seekable = file.is_a?(File) && file.stat.file?
        @place = 0
        open_all
        headers
        parts.each { |part| write_part(part, &) }
        file.truncate(@place) if @seekable
        raise Error, "the copy of process #{@pid} was killed before all was written" unless stands?

        parts.sum { |part| part.runs.sum(&:last) }
      ensure
        [@memory, @pages, @shared_pages].compact.each(&:close)
      end

      private

      def open_all
        @memory = File.open("/proc/#{@copy}/mem", "rb")
        @pages = File.open("/proc/#{@copy}/pagemap", "rb")
        @shared_pages = File.open("/proc/#{@pid}/pagemap", "rb")
      end

      # ---- what is in it ----

      def mappings
        @mappings ||= File.binread("/proc/#{@copy}/maps").each_line.filter_map do |line|
          start, finish, access, offset, device, inode, path = line.match(LINE)&.captures
          Mapping.new(start.hex, finish.hex, access, offset.hex, device, inode.to_i, path) if start
        end
      end

      def parts
        @parts ||= mappings.reject { |mapping| KERNELS.include?(mapping.path) }.flat_map { |mapping| parts_of(mapping) }
      end

      def parts_of(mapping)
        return [flight_part(mapping)] if mapping.shared? && flight?(mapping)

        runs = runs_of(mapping)
        first = runs.empty? ? 0 : runs[0][0]
        return [part(mapping, 0, mapping.bytes, runs)] if first < GAP

        [part(mapping, 0, first, []), part(mapping, first, mapping.bytes, runs)]
      end

      def part(mapping, start, finish, runs)
        bytes = runs.empty? ? 0 : runs.last.sum - start
        Part.new(mapping, mapping.begin + start, mapping.begin + finish, bytes,
                 runs.map { |offset, size| [offset - start, size] }, @memory, mapping.begin + start)
      end

      def flight_part(mapping)
        bytes = (@flight[1] - mapping.offset).clamp(0, mapping.bytes)
        runs = bytes.zero? ? [] : [[0, bytes]]
        Part.new(mapping, mapping.begin, mapping.end, bytes, runs, @flight[0], mapping.offset)
      end

      def flight?(mapping)
        status = @flight&.last
        status && mapping.inode == status.ino &&
          mapping.device.split(":").map(&:hex) == [status.dev_major, status.dev_minor]
      end

      def runs_of(mapping)
        return mapping.shared_memory? ? touched(@shared_pages, mapping, 0) : [] if mapping.shared?
        return [[0, mapping.bytes]] if mapping.path == "[vdso]"

        runs = touched(@pages, mapping, OTHERS)
        return runs unless mapping.file?
        return [[0, mapping.bytes]] if runs.any? || (mapping.writable? && mapping.access[0] == "r")

        beginning(mapping)
      end

      # Of a program or library: what tells which one it is.
      def beginning(mapping)
        mapping.offset.zero? && @memory.pread(4, mapping.begin) == "\x7FELF".b ? [[0, PAGE]] : []
      rescue SystemCallError, EOFError
        []
      end

      # Runs of pages that are there, and none of `unwanted`'s.
      def touched(pagemap, mapping, unwanted)
        runs = []
        pages = mapping.bytes / PAGE
        0.step(pages - 1, PAGES_AT_ONCE) do |first|
          words = pagemap.pread([pages - first, PAGES_AT_ONCE].min * 8, ((mapping.begin / PAGE) + first) * 8)
          words.unpack("Q*").each_with_index do |word, i|
            add_page(runs, (first + i) * PAGE) if word.anybits?(THERE) && word.nobits?(unwanted)
          end
        end
        runs
      rescue SystemCallError, EOFError
        runs
      end

      def add_page(runs, offset)
        last = runs.last
        last && last.sum == offset ? last[1] += PAGE : runs << [offset, PAGE]
      end

      # ---- the file ----

      def headers
        notes = notes()
        count = parts.size + 1
        many = count >= MANY
        sections = HEADER + (count * PART_HEADER)
        begins = sections + (many ? HEADER : 0)
        put(elf_header(count, many ? sections : 0))
        put(part_header(4, 0, begins, 0, notes.bytesize, 0, 4))
        offset = aligned(begins + notes.bytesize)
        parts.each do |part|
          put(part_header(1, part.mapping.flags, offset, part.begin, part.bytes, part.end - part.begin, PAGE))
          offset += aligned(part.bytes)
        end
        put(section(count)) if many
        put(notes)
      end

      # A core of this machine, little-endian. sections: where they are; 0: there are none.
      def elf_header(count, sections)
        in_section = sections.zero? ? [count, 0, 0] : [MANY, HEADER, 1]
        machine = Attach::Machine.here.elf
        ["\x7FELF\x02\x01\x01".b, 4, machine, 1, 0, HEADER, sections, 0, HEADER, PART_HEADER, *in_section, 0]
          .pack("a16S<2L<Q<3L<S<6")
      end

      def part_header(kind, flags, offset, address, bytes, memory, alignment)
        [kind, flags, offset, address, 0, bytes, memory, alignment].pack("L<2Q<6")
      end

      def section(count)
        [0, 0, 0, 0, 0, 0, 0, count, 0, 0].pack("L<2Q<4L<2Q<2")
      end

      def write_part(part, &)
        return if part.bytes.zero?

        begins = aligned(@place)
        part.runs.each do |offset, bytes|
          skip_to(begins + offset)
          copy(part, offset, bytes, &)
        end
        skip_to(begins + part.bytes)
      end

      def copy(part, offset, bytes)
        finish = offset + bytes
        while offset < finish
          chunk = read(part, offset, [finish - offset, AT_ONCE].min)
          put(chunk)
          offset += chunk.bytesize
          yield chunk.bytesize if block_given?
        end
      end

      # What cannot be read (a page behind the end of a file) is zeros.
      def read(part, offset, bytes)
        @buffer ||= String.new(capacity: AT_ONCE)
        part.source.pread(bytes, part.at + offset, @buffer)
      rescue SystemCallError, EOFError
        bytes > PAGE ? read(part, offset, PAGE) : "\0".b * bytes
      end

      def put(bytes)
        @file.write(bytes)
        @place += bytes.bytesize
      end

      def skip_to(place)
        if @seekable
          @file.seek(place - @place, IO::SEEK_CUR)
          @place = place
        else
          put("\0".b * [place - @place, AT_ONCE].min) while @place < place
        end
      end

      # As its tracer holds it.
      def stands?
        Accounting::ProcessIdentity.stat(@copy)&.first == "t"
      end

      def aligned(bytes)
        (bytes + PAGE - 1) / PAGE * PAGE
      end

      # ---- notes: as in <sys/procfs.h> ----

      def notes
        [*@threads.map { |thread, registers| note(:status, status(thread, registers)) }.first(1),
         note(:about, about), note(:auxiliary, proc("auxv")), note(:files, files),
         *@threads.drop(1).map { |thread, registers| note(:status, status(thread, registers)) }].join
      end

      def note(name, bytes)
        [5, bytes.bytesize, NOTES.fetch(name), "CORE"].pack("L<3a8") + bytes + ("\0" * (-bytes.bytesize % 4))
      end

      # struct elf_prstatus: signals (32 bytes), four numbers, four times, the registers, a number.
      def status(thread, registers)
        ["", thread, *family, "", registers, 0].pack("a32l<4a64a*l<x4")
      end

      # struct elf_prpsinfo
      def about
        command = proc("cmdline").tr("\0", " ").strip
        ["", Process.euid, Process.egid, @pid, *family, proc("comm").chomp, command].pack("a16L<2l<4a16a80")
      end

      # Parent, process group, session.
      def family
        @family ||= proc("stat").rpartition(")").last.split[1, 3].map(&:to_i)
      end

      # Their number and the size of a page; of each begin, end and offset in pages; their names.
      def files
        mapped = mappings.select(&:file?)
        [mapped.size, PAGE, *mapped.flat_map { |one| [one.begin, one.end, one.offset / PAGE] }].pack("Q<*") +
          mapped.map { |one| "#{one.path}\0" }.join
      end

      def proc(name)
        File.binread("/proc/#{@copy}/#{name}")
      end
    end
  end
end
