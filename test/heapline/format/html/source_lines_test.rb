# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/format/html"

module Heapline
  module Format
    class Html
      class SourceLinesTest < Minitest::Test
        include Snapshots

        def excerpt(path, line)
          SourceLines.new.of([site(path, line)])[0]
        end

        def written(name, content)
          in_directory do |dir|
            path = File.join(dir, name)
            File.binwrite(path, content)
            yield path
          end
        end

        def test_two_lines_before_and_after
          written("a.rb", "1\n2\n3\n4\n5\n6\n") do |path|
            assert_equal [2, %w[2 3 4 5 6]], excerpt(path, 4)
            assert_equal [1, %w[1 2 3]], excerpt(path, 1)
            assert_equal [4, %w[4 5 6]], excerpt(path, 6)
          end
        end

        def test_a_file_without_that_line_is_another_file
          written("a.rb", "1\n") { |path| assert_nil excerpt(path, 2) }
        end

        def test_only_what_looks_like_ruby_is_read
          written("passwords", "root:x\n") { |path| assert_nil excerpt(path, 1) }
          written("script", "#!/usr/bin/env ruby\nputs 1\n") { |path| refute_nil excerpt(path, 2) }
          written("page.html.erb", "<%= 1 %>\n") { |path| assert_equal [1, ["<%= 1 %>"]], excerpt(path, 1) }
        end

        def test_neither_pipes_nor_devices_nor_what_is_not_there
          in_directory do |dir|
            pipe = File.join(dir, "pipe.rb")
            File.mkfifo(pipe)
            File.symlink("/dev/zero", zero = File.join(dir, "zero.rb"))
            [pipe, zero, dir, File.join(dir, "gone.rb"), "nul\0.rb"].each { |path| assert_nil excerpt(path, 1) }
          end
        end

        def test_large_files_are_left_alone
          written("a.rb", "x\n" * ((SourceLines::LARGEST / 2) + 1)) { |path| assert_nil excerpt(path, 1) }
        end

        def test_lines_are_short_and_inert
          written("a.rb", "\tputs \"\e[31m\xFF\"\n#{"y" * 900}\n") do |path|
            first, long = excerpt(path, 1).last
            assert_equal "  puts \"\\x1B[31m\\xFF\"", first
            assert_equal "#{"y" * SourceLines::LONGEST}…", long
          end
        end

        def test_sites_by_their_number
          found = SourceLines.new.of([site("/gone.rb", 1), site(__FILE__, 1), site(__FILE__, 0)])
          assert_equal [1], found.keys
        end
      end
    end
  end
end
