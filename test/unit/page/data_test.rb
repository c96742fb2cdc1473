# frozen_string_literal: true

require "test_helper"
require "heapline/page/data"
require "support/snapshots"
require "heapline/accounting/html"

module Heapline
  module Page
    class StringsTest < Minitest::Test
      def test_each_once_and_inert
        strings = Strings.new
        assert_equal([0, 1, 2, 1], [nil, "\e", "a", "\e"].map { |text| strings.number(text) })
        assert_equal ["", "\\x1B", "a"], strings.all
      end
    end

    class ExcerptsTest < Minitest::Test
      include Snapshots

      def excerpts(*sites, pid: nil)
        Excerpts.new(pid).of(sites)
      end

      def written(name, content)
        in_directory do |dir|
          path = File.join(dir, name)
          File.binwrite(path, content)
          yield path
        end
      end

      def test_the_number_of_the_first_line_and_the_lines
        written("a.rb", "1\n2\n3\n4\n5\n6\n7\n8\n9\n") do |path|
          assert_equal({ 0 => [2, %w[2 3 4 5 6 7 8]], 1 => [1, %w[1 2 3 4]] },
                       excerpts(site(path, 5), site(path, 1)))
        end
      end

      def test_sites_without_source_are_left_out
        native = Accounting::Site.new(location: Places::Location.new(library: "liba.so"), **Accounting::Site::ZERO)
        here = site(File.expand_path(__FILE__), 1)
        assert_equal [3], excerpts(site("/gone.rb", 1), native, site("nul\0.rb", 1), here).keys
      end

      def test_only_what_is_called_like_ruby_source_is_read
        written("passwords", "root:x\n") { |path| assert_empty excerpts(site(path, 1)) }
        written("page.html.erb", "<%= 1 %>\n") { |path| refute_empty excerpts(site(path, 1)) }
      end

      def test_as_the_process_sees_it_while_it_runs
        written("a.rb", "one\n") do |path|
          Dir.chdir(File.dirname(path)) do
            assert_equal [[1, ["one"]]], excerpts(site("a.rb", 1), pid: Process.pid).values
          end
        end
        assert_empty excerpts(site("a.rb", 1))
      end

      def test_lines_are_short_and_inert
        written("a.rb", "\tputs \"\e[31m\xFF\"\n#{"y" * 900}\n") do |path|
          first, long = excerpts(site(path, 1))[0].last
          assert_equal "  puts \"\\x1B[31m\\xFF\"", first
          assert_equal "#{"y" * Excerpts::LONGEST}…", long
        end
      end
    end
  end
end
