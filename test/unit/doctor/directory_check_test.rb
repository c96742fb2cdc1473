# frozen_string_literal: true

require "test_helper"
require "heapline/cli"
require "heapline/doctor/doctor_command"
require "heapline/doctor/checks"

module Heapline
  module Doctor
    class DirectoryCheckTest < Minitest::Test
      def finding(path)
        DirectoryCheck.new({ "HEAPLINE_DIR" => path }).finding
      end

      def test_a_good_directory
        in_directory { |path| assert_equal([:ok, nil], finding(path).then { |found| [found.state, found.remedy] }) }
      end

      def test_one_that_will_be_made
        in_directory { |path| assert_match(/free, made at the first run/, finding("#{path}/new").text) }
      end

      def test_troubles_name_their_remedies
        in_directory do |path|
          File.write("#{path}/file", "")
          File.chmod(0o777, Dir.mkdir("#{path}/open").then { "#{path}/open" })
          { "#{path}/open" => "chmod 700 #{path}/open", "#{path}/file" => /remove it, or set HEAPLINE_DIR/,
            "relative" => "give it as an absolute path", "#{path}/a/b" => /set HEAPLINE_DIR/ }.each do |place, remedy|
            found = finding(place)
            assert_equal :problem, found.state
            assert_match remedy, found.remedy
          end
        end
      end
    end
  end
end
