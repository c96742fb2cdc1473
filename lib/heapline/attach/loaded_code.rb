# frozen_string_literal: true

require_relative "../errors"
require_relative "../files/input"
require_relative "../places/object_file"

module Heapline
  module Attach
    # The code that a process has mapped: which objects are loaded, and where their exported functions are. It is read
    # from outside, as the process sees its files.
    class LoadedCode
      # A file whose code is mapped: its name there, the file as it can be opened here, and [begin, end, offset] of its
      # code. gone: the file that is mapped is not there any more.
      Loaded = Struct.new(:name, :path, :ranges, :gone, keyword_init: true) do
        # Address of what it exports by that name; nil: nothing.
        def address_of(name)
          address = object.address_of(name)
          address && (address + bias)
        end

        # The address of these bytes in its code, or nil.
        def find(bytes)
          ranges.each do |start, finish, offset|
            Input.open(path, pipe: false) do |file|
              code = file.at(offset, [finish - start, file.size - offset].min)
              place = code.index(bytes) and return start + place
            end
          end
          nil
        end

        private

        def object
          @object ||= Places::ObjectFile.new(path)
        end

        # From the file's addresses to those of the process.
        def bias
          start, _, offset = ranges.first
          start - object.address(offset)
        end
      end

      LINE = /\A(\h+)-(\h+) ..x. (\h+) \S+ (\d+) +(\S.*)\n?\z/
      GONE = " (deleted)"
      KERNELS = /^(\h+)-(\h+) r.xp .*\[vdso\]$/
      LIBC = /\Alibc(?:\.so\.6|-2\.\d+\.so)\z/
      LOADER = /\Ald(?:-linux.*\.so\.\d|-2\.\d+\.so)\z/
      CORE = "libheapline.so"
      # The core, handed over as memory, as /proc calls it.
      MEMORY = "/memfd:#{CORE}".freeze

      # The number of the descriptor under which a process has the core as memory; nil: it has none.
      def self.memory_file(pid)
        Dir.children("/proc/#{pid}/fd").find { |number| File.readlink("/proc/#{pid}/fd/#{number}") == MEMORY + GONE }
      rescue SystemCallError
        nil
      end

      # Raises SystemCallError where the process's mappings cannot be read.
      def initialize(pid)
        @pid = pid
        @directory = "/proc/#{Integer(pid)}"
        @root = "#{@directory}/root"
        maps = File.binread("/proc/#{pid}/maps")
        @objects = read(maps)
        @kernels = maps[KERNELS, 1]&.hex, maps[KERNELS, 2]&.hex
      end

      # Loaded of the GNU C library, the loader, heapline's core; nil: it has none.
      def libc
        named(LIBC)
      end

      def loader
        named(LOADER)
      end

      def core
        @objects.find { |object| object.name == MEMORY || File.basename(object.name) == CORE }
      end

      # Is that a C library of another make?
      def musl?
        !named(/\Ald-musl|\Alibc\.musl|\Alibc\.so\z/).nil?
      end

      def ruby?
        has?("ruby_version")
      end

      # The address of these bytes in the C library's code, or in the page of it that the kernel maps; nil: nowhere.
      def find(bytes)
        libc.find(bytes) || find_in_kernels(bytes)
      end

      # Does any object export that name?
      def has?(name)
        !address_of(name).nil?
      end

      # The address of the first that is exported by that name, or nil.
      def address_of(name)
        @objects.lazy.filter_map { |object| object.address_of(name) }.first
      end

      # What its allocator is made of: objects that export malloc.
      def allocators
        @allocators ||= @objects.select { |object| object.address_of("malloc") }
      end

      # What is loaded but the program itself.
      def libraries
        @objects - [@objects.find { |object| object.name == program }]
      end

      private

      def program
        File.readlink("#{@directory}/exe").delete_suffix(GONE)
      end

      def read(text)
        lines = text.each_line.filter_map { |line| line.match(LINE)&.captures }
        lines.reject { |*, name| name.start_with?("[") || !name.start_with?("/") }
             .group_by(&:last).map { |name, parts| loaded(name, parts) }
      end

      def loaded(name, parts)
        ranges = parts.map { |start, finish, offset| [start.hex, finish.hex, offset.hex] }
        memory = name == MEMORY + GONE && self.class.memory_file(@pid)
        Loaded.new(name: name.delete_suffix(GONE), path: memory ? "#{@directory}/fd/#{memory}" : @root + name,
                   ranges: ranges, gone: !memory && gone?(name, parts))
      end

      def gone?(name, parts)
        name.end_with?(GONE) || File.stat(@root + name).ino != parts.first[3].to_i
      rescue SystemCallError
        true
      end

      def find_in_kernels(bytes)
        first, finish = @kernels
        code = first && Input.open("#{@directory}/mem", pipe: false) { |file| file.at(first, finish - first) }
        place = code&.index(bytes)
        place && (first + place)
      rescue InputError
        nil
      end

      def named(pattern)
        @objects.find { |object| pattern.match?(File.basename(object.name)) }
      end
    end
  end
end
