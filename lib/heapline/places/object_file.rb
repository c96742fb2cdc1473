# frozen_string_literal: true

require_relative "../files/input"

module Heapline
  module Places
    # What the headers of an ELF file (64 bit, little-endian) say about its code: where its parts are loaded, and which
    # exported function an address lies in. A file that is none, or is damaged, says nothing.
    class ObjectFile
      # From bytes of the file to addresses.
      Segment = Struct.new(:offset, :bytes, :address)
      Symbol = Struct.new(:address, :bytes, :name)

      Section = Struct.new(:type, :offset, :bytes, :link)
      LOAD = 1
      NAME_MOST = 4096 # bytes
      SYMBOLS = 2
      DYNAMIC_SYMBOLS = 11
      FUNCTIONS = [2, 10].freeze # STT_FUNC, STT_GNU_IFUNC

      def initialize(path)
        Input.open(path, pipe: false) { |input| read(input) }
      rescue InputError
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
        symbol = before(address)
        symbol.name if symbol && address < symbol.address + symbol.bytes
      end

      # Name of the last exported function that begins before the address, most often of the same source file; nil:
      # there is none.
      def nearest(address)
        before(address)&.name
      end

      private

      def before(address)
        index = @exported.bsearch_index { |symbol| symbol.address > address } || @exported.size
        @exported[index - 1] if index.positive?
      end

      # InputError where a damaged file says what cannot be.
      def read(file)
        head = part(file, 0, 64)
        file.fail_with("is no ELF file of 64 bits") unless head.start_with?("\x7fELF\x02\x01".b)

        @segments = table(file, 56, head.unpack1("@32Q<"), *head.unpack("@54S<S<")).filter_map { |row| segment(row) }
        sections = table(file, 64, head.unpack1("@40Q<"), *head.unpack("@58S<S<")).map { |row| section(row) }
        @named = sections.any? { |each| each.type == SYMBOLS }
        @exported = functions(file, sections, sections.find { |each| each.type == DYNAMIC_SYMBOLS })
      end

      # least: bytes that a row must have.
      def table(file, least, offset, size, count)
        file.fail_with("is damaged: its tables are of no known form") if size < least && count.positive?

        bytes = count.zero? ? "" : part(file, offset, size * count)
        Array.new(count) { |index| bytes.byteslice(index * size, size) }
      end

      def part(file, offset, size)
        file.fail_with("is cut short") if offset + size > file.size

        file.at(offset, size)
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

        names = sections[symbols.link] or file.fail_with("is damaged: its symbols have no names")
        strings = part(file, names.offset, names.bytes)
        entries = table(file, 24, symbols.offset, 24, symbols.bytes / 24).map { |entry| entry.unpack("L<CCS<Q<Q<") }
        entries.select { |_, info, _, index, *| FUNCTIONS.include?(info & 15) && index.positive? }
               .map do |name, _, _, _, address, size|
          Symbol.new(address, size,
                     strings.byteslice(name, NAME_MOST).to_s.unpack1("Z*"))
        end
               .sort_by(&:address)
      end
    end
  end
end
