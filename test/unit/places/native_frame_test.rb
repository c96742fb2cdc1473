# frozen_string_literal: true

require "test_helper"
require "support/leak_reports"

module Heapline
  module Places
    class NativeFrameTest < Minitest::Test
      def test_its_name_is_the_function_or_the_place
        assert_equal "leak", LeakReports.frame.name
        assert_equal "foo.c:12", LeakReports.frame(function: nil).name
        assert_equal "libfoo.so+0x1f30", LeakReports.frame(function: nil, file: nil).name
        assert_equal "unknown code", LeakReports.frame(function: nil, file: nil, path: nil).name
        assert LeakReports.frame.frozen?
      end

      def test_what_is_the_systems
        %w[libc.so.6 libruby-3.1.so.3.1.2 libstdc++.so.6 ld-linux-x86-64.so.2 ruby ruby3.1 libz.so.1].each do |name|
          assert_predicate LeakReports.frame(path: "/lib/#{name}"), :system?, name
        end
        assert_predicate LeakReports.frame(path: nil), :system?
        %w[parser.so libcurl.so.4 libxml2.so.2 rubyish.so].each do |name|
          refute_predicate LeakReports.frame(path: "/lib/#{name}"), :system?, name
        end
      end
    end
  end
end
