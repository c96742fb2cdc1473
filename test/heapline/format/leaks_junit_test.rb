# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/leak_reports"
require "heapline/format/leaks_junit"

module Heapline
  module Format
    class LeaksJunitTest < Minitest::Test
      include LeakReports

      def xml(leaks)
        io = StringIO.new
        LeaksJunit.new.render(leaks, io)
        io.string
      end

      # An XML reader's own opinion.
      def assert_well_formed(text)
        require "rexml/document"
        assert_equal "testsuites", REXML::Document.new(text).root.name
      rescue LoadError
        skip "no rexml"
      end

      def test_a_lost_record_is_a_failure
        text = xml(leaks([record, record(kind: :possible)]))
        assert_match(/<testsuites name="heapline leaks" tests="1" failures="1">/, text)
        assert_match(%r{<testcase classname="heapline.leaks" name="leak at /a/app.rb:3">}, text)
        assert_match(/<failure type="definite" message="80 bytes in 2 blocks definitely lost">/, text)
        assert_match(/possibly lost    80 B/, text)
        assert_well_formed(text)
      end

      def test_without_a_loss_one_case_passes
        assert_match(/failures="0" errors="0">\n    <testcase classname="\S+" name="no block is lost"/, xml(leaks([])))
      end

      def test_hostile_names
        text = xml(leaks([record(path: "<a & \"b\">\e\0\u0001\ufffe.rb", frames: [frame(function: "x]]><y>")])]))
        refute_match(/[\e\0\u0001]/, text)
        assert_well_formed(text)
      end
    end
  end
end
