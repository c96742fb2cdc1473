# frozen_string_literal: true

require "test_helper"
require "heapline/places/object_file"

module Heapline
  module Leaks
    # Against readelf, on the core itself.
    class ObjectFileTest < Minitest::Test
      def setup
        skip "the core is not compiled: rake compile" unless File.exist?(TestHelper::CORE)
        @file = Places::ObjectFile.new(TestHelper::CORE)
      end

      def test_exported_functions
        symbols = IO.popen(["readelf", "--dyn-syms", "-W", TestHelper::CORE], &:read)
        lines = symbols.lines.map(&:split).select { |words| words[3] == "FUNC" && words[6] != "UND" && words[7] !~ /@/ }
        assert_operator lines.size, :>, 30
        lines.each do |_, address, size, *, name|
          inside = @file.exported(address.hex + size.to_i - 1)
          assert_equal @file.exported(address.hex), inside, name
          assert(lines.any? { |words| words[1] == address && words[7] == inside }) # aliases have one address
        end
      end

      def test_all_names_of_a_function
        symbols = IO.popen(["readelf", "-sW", TestHelper::CORE], &:read).lines.map(&:split)
        names = symbols.select { |words| words[3] == "FUNC" && words[1] == address_of_malloc(symbols) }
        names = names.map { |words| words[7].sub(/@.*/, "") }.uniq
        address = address_of_malloc(symbols).hex
        assert_equal names.sort, @file.aliases(address + 1).uniq.sort
        assert_empty @file.aliases(1 << 40)
      end

      def address_of_malloc(symbols)
        symbols.find { |words| words[7] == "malloc" && words[6] != "UND" }[1]
      end

      def test_behind_a_function_there_is_no_name
        assert_nil @file.exported(0)
        assert_nil @file.exported(1 << 40)
      end

      def test_places_in_the_file_are_addresses
        headers = IO.popen(["readelf", "-lW", TestHelper::CORE], &:read)
                    .scan(/^\s+LOAD\s+0x(\h+) 0x(\h+) 0x\h+ 0x(\h+)/)
        refute_empty headers
        headers.map { |words| words.map(&:hex) }.each do |offset, address, size|
          assert_equal address + size - 1, @file.address(offset + size - 1)
        end
      end

      def test_it_knows_whether_all_symbols_are_there
        assert @file.named?
      end

      def test_other_files_say_nothing
        [__FILE__, "/no/such/file", "/dev/null"].each do |path|
          other = Places::ObjectFile.new(path)
          assert_equal [nil, 5, false, []],
                       [other.exported(5), other.address(5), other.named?, other.aliases(5)], path
        end
      end

      # Cut and damaged files: no error, whatever they say.
      def test_damaged_files
        bytes = File.binread(TestHelper::CORE)
        random = Random.new(7)
        Dir.mktmpdir do |directory|
          path = File.join(directory, "damaged.so")
          100.times do
            damaged = bytes.dup
            20.times { damaged.setbyte(random.rand(64), random.rand(256)) }
            File.binwrite(path, "\x7fELF\x02\x01".b + damaged.byteslice(6, random.rand(bytes.size)))
            file = Places::ObjectFile.new(path)
            [file.exported(0x1000), file.aliases(0x1000)]
          end
        end
      end
    end
  end
end
