# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"
require "stringio"
require "support/leak_reports"
require "heapline/leaks/junit"

module Heapline
  module Leaks
    class JunitTest < Minitest::Test
      include LeakReports

      def xml(leaks)
        io = StringIO.new
        Junit.new.render(leaks, io)
        io.string
      end

      SCHEMA = File.join(Heapline::TestHelper::ROOT, "test", "support", "junit_schema.rb")

      # An XML reader's own opinion.
      def complaints(text)
        bundled = ENV.keys.grep(/\A(BUNDLE|BUNDLER|GEM)_/).to_h { |name| [name, nil] }
        out, err, status = Open3.capture3({ **bundled, "RUBYOPT" => nil }, RbConfig.ruby, SCHEMA, stdin_data: text)
        skip "no rexml" if err.include?("cannot load such file -- rexml")
        assert status.success?, err
        out
      end

      def assert_valid(text)
        assert_empty complaints(text)
      end

      def test_a_lost_record_is_a_failure
        text = xml(leaks([record, record(kind: :possible)]))
        assert_match(/<testsuites name="heapline leaks" tests="1" failures="1">/, text)
        assert_match(%r{<testcase classname="heapline.leaks" name="leak at /a/app.rb:3">}, text)
        assert_match(/<failure type="definite" message="80 bytes in 2 blocks definitely lost">/, text)
        assert_match(/possibly lost    80 B/, text)
        assert_valid(text)
      end

      def test_a_case_is_named_by_the_function_that_lost_it
        frames = [frame(function: "strdup", path: "/lib/libc.so.6"), frame(function: "std::string::string()"), frame]
        assert_match(/ name="leak at /, xml(leaks([record(frames: frames)])))
      end

      def test_without_a_loss_one_case_passes
        text = xml(leaks([]))
        assert_match(/failures="0" errors="0">\n    <testcase classname="\S+" name="no block is lost"/, text)
        assert_valid(text)
      end

      def test_the_schema_can_fail
        text = xml(leaks)
        [text.sub(' errors="0"', ""), text.sub('tests="1"', 'tests="2"'), text.sub("<failure", "<failed"),
         text.gsub("testcase", "case"), text.sub("</testsuites>", "")].each { |bad| refute_empty complaints(bad) }
      end

      def test_hostile_names
        text = xml(leaks([record(path: "<a & \"b\">\e\0\u0001\ufffe.rb", frames: [frame(function: "x]]><y>")])]))
        refute_match(/[\e\0\u0001]/, text)
        assert_valid(text)
      end
    end
  end
end
