# frozen_string_literal: true

module Heapline
  module Leaks
    # What the headers of an ELF file (64 bit, little-endian) say about its code: where its parts are loaded, and which
    # exported function an address lies in. A file that is none, or is damaged, says nothing.
    class ObjectFile
      # From bytes of the file to addresses.
      Segment = Struct.new(:offset, :bytes, :address)
      Symbol = Struct.new(:address, :bytes, :name)

      Section = Struct.new(:type, :offset, :bytes, :link)
      LOAD = 1
      SYMBOLS = 2
      DYNAMIC_SYMBOLS = 11
      FUNCTIONS = [2, 10].freeze # STT_FUNC, STT_GNU_IFUNC

      def initialize(path)
        File.open(path, "rb") { |file| read(file) }
      rescue SystemCallError, NoMethodError, TypeError, ArgumentError, EOFError
        @segments = @exported = []
        @named = false
      end

      # Has it a table of all its symbols? If not, tools take the nearest exported one for the function's name.
      def named?
        @named
      end

      # The address of a place in the file.
      def address(offset)
        segment = @segments.find { |each| offset >= each.offset && offset < each.offset + each.bytes }
        segment ? offset - segment.offset + segment.address : offset
      end

      # Name of the exported function that holds the address, or nil.
      def exported(address)
        index = @exported.bsearch_index { |symbol| symbol.address > address } || @exported.size
        symbol = @exported[index - 1] if index.positive?
        symbol.name if symbol && address < symbol.address + symbol.bytes
      end

      private

      def read(file)
        head = file.read(64)
        raise TypeError, "no ELF file of 64 bits" unless head.start_with?("\x7fELF\x02\x01".b)

        @segments = table(file, head.unpack1("@32Q<"), *head.unpack("@54S<S<")).filter_map { |header| segment(header) }
        sections = table(file, head.unpack1("@40Q<"), *head.unpack("@58S<S<")).map { |header| section(header) }
        @named = sections.any? { |each| each.type == SYMBOLS }
        @exported = functions(file, sections, sections.find { |each| each.type == DYNAMIC_SYMBOLS })
      end

      def table(file, offset, size, count)
        bytes = count.zero? ? "" : part(file, offset, size * count)
        Array.new(count) { |index| bytes.byteslice(index * size, size) }
      end

      # Raises TypeError where the file has no such bytes.
      def part(file, offset, size)
        raise TypeError, "beyond the file's end" if offset + size > file.size

        file.pread(size, offset)
      end

      def segment(header)
        type, _, offset, address, _, size = header.unpack("L<L<Q<Q<Q<Q<")
        Segment.new(offset, size, address) if type == LOAD
      end

      def section(header)
        _, type, _, _, offset, size, link = header.unpack("L<L<Q<Q<Q<Q<L<")
        Section.new(type, offset, size, link)
      end

      # Sorted by address.
      def functions(file, sections, symbols)
        return [] unless symbols

        strings = part(file, sections[symbols.link].offset, sections[symbols.link].bytes)
        entries = table(file, symbols.offset, 24, symbols.bytes / 24).map { |entry| entry.unpack("L<CCS<Q<Q<") }
        entries.select { |_, info, _, index, *| FUNCTIONS.include?(info & 15) && index.positive? }
               .map { |name, _, _, _, address, size| Symbol.new(address, size, strings.unpack1("@#{name}Z*")) }
               .sort_by(&:address)
      end
    end
  end
end
