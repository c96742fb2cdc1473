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
      ENTRY = 24 # bytes of a symbol
      SYMBOLS = 2
      DYNAMIC_SYMBOLS = 11
      FUNCTIONS = [2, 10].freeze # STT_FUNC, STT_GNU_IFUNC
      EXPORTED = [1, *FUNCTIONS].freeze # STT_OBJECT

      def initialize(path)
        @path = path
        Input.open(path, pipe: false) { |input| read(input) }
      rescue InputError
        @segments = []
        @sections = []
        @symbols = @strings = ""
      end

      # Has it a table of all its symbols? If not, tools take the nearest exported one for the function's name.
      def named?
        @sections.any? { |each| each.type == SYMBOLS }
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

      # All names (Array) of the function that holds the address: where the file has a table of all symbols, those too
      # that are not exported.
      def aliases(address)
        @all ||= functions(*complete_table)
        last = (@all.bsearch_index { |symbol| symbol.address > address } || @all.size) - 1
        return [] if last.negative?

        same = @all[..last].reverse_each.take_while { |symbol| symbol.address == @all[last].address }
        same.any? { |symbol| address < symbol.address + symbol.bytes } ? same.map(&:name) : []
      end

      # Name of the last exported function that begins before the address, most often of the same source file; nil:
      # there is none.
      def nearest(address)
        before(address)&.name
      end

      # The address of what is exported by that name, a function or data, or nil. Names are not taken apart for that.
      def address_of(name)
        places = places_of("#{name}\0".b)
        @words ||= @symbols.unpack("L<*")
        (0...@words.size).step(ENTRY / 4) do |word|
          found = symbol(word * 4, EXPORTED) if places.include?(@words[word])
          return found[4] if found
        end
        nil
      end

      private

      def before(address)
        @exported ||= functions(@symbols, @strings)
        index = @exported.bsearch_index { |symbol| symbol.address > address } || @exported.size
        @exported[index - 1] if index.positive?
      end

      # InputError where a damaged file says what cannot be.
      def read(file)
        head = part(file, 0, 64)
        file.fail_with("is no ELF file of 64 bits") unless head.start_with?("\x7fELF\x02\x01".b)

        @segments = table(file, 56, head.unpack1("@32Q<"), *head.unpack("@54S<S<")).filter_map { |row| segment(row) }
        @sections = table(file, 64, head.unpack1("@40Q<"), *head.unpack("@58S<S<")).map { |row| section(row) }
        @symbols = @strings = ""
        @symbols, @strings = symbols(file, DYNAMIC_SYMBOLS)
      end

      # least: bytes that a row must have.
      def table(file, least, offset, size, count)
        file.fail_with("is damaged: its tables are of no known form") if size < least && count.positive?

        bytes = count.zero? ? "" : part(file, offset, size * count)
        Array.new(count) { |index| bytes.byteslice(index * size, size) }
      end

      def part(file, offset, size)
        file.fail_with("is cut short") if offset + size > file.size
        file.fail_with("is damaged: its tables are larger than any") if size > Input::MOST

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

      # A table of symbols and their names: bytes, empty where the file has no such table.
      def symbols(file, type)
        found = @sections.find { |each| each.type == type } or return ["", ""]
        names = @sections[found.link] or file.fail_with("is damaged: its symbols have no names")
        [table(file, ENTRY, found.offset, ENTRY, found.bytes / ENTRY).join, part(file, names.offset, names.bytes)]
      end

      def complete_table
        return [@symbols, @strings] unless named?

        Input.open(@path, pipe: false) { |file| symbols(file, SYMBOLS) }
      rescue InputError
        [@symbols, @strings]
      end

      # The fields of a symbol that is one of these types; nil of any other.
      def symbol(offset, types, symbols = @symbols)
        entry = symbols.byteslice(offset, ENTRY).unpack("L<CCS<Q<Q<")
        entry if types.include?(entry[1] & 15) && entry[3].positive?
      end

      # Where a name stands among the names: it may be the end of a longer one.
      def places_of(name)
        places = []
        from = -1
        places << from while (from = @strings.index(name, from + 1))
        places
      end

      # Sorted by address.
      def functions(symbols, strings)
        entries = (0...symbols.bytesize).step(ENTRY).filter_map { |offset| symbol(offset, FUNCTIONS, symbols) }
        entries.map { |name, _, _, _, address, size| Symbol.new(address, size, name_at(name, strings)) }
               .sort_by(&:address)
      end

      def name_at(place, strings)
        strings.byteslice(place, NAME_MOST).to_s.unpack1("Z*")
      end
    end
  end
end
