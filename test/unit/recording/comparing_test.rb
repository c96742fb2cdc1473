# frozen_string_literal: true

require "test_helper"
require "heapline/capture"
require "heapline/capture/comparing"
require "support/captures"

module Heapline
  class Capture
    class ComparingTest < Minitest::Test
      # A capture of blocks of these sizes at [path, line, library].
      def capture(sizes)
        builder = Captures::Builder.new
        sizes.each do |(path, line, library), size|
          native = library ? [["parse", nil, nil, library, 9]] : []
          builder.birth(0, size, [["main", "/srv/app/releases/#{path[/\\d+/]}/main.rb", 1], ["m", path, line], *native])
        end
        Captures.file(builder.to_s) { |file| return Capture.open(file) }
      end

      def changes(by, before, after)
        Comparing.new(capture(before), capture(after)).changes(by: by)
                 .map { |change| [change.key, change.before.peak_bytes, change.after.peak_bytes] }.sort_by(&:to_s)
      end

      def test_the_same_line_of_two_deploys
        before = { ["/srv/app/releases/20260101120000/a.rb", 3] => 10, ["/gems/rack-3.0.8/lib/rack.rb", 7] => 5 }
        after = { ["/srv/app/releases/20260202120000/a.rb", 3] => 30, ["/gems/rack-3.1.0/lib/rack.rb", 7] => 5,
                  ["/gems/new-1.0/n.rb", 1] => 8 }
        assert_equal [["/gems/new-1.0/n.rb:1", 0, 8], ["/gems/rack-3.1.0/lib/rack.rb:7", 5, 5],
                      ["/srv/app/releases/20260202120000/a.rb:3", 10, 30]], changes(:line, before, after)
        assert_equal [["new", 0, 8], ["rack", 5, 5], ["(application)", 10, 30]].sort_by(&:to_s),
                     changes(:gem, before, after)
      end

      def test_versions_of_libraries
        before = { ["/x/1/a.rb", 3, "/usr/lib/libxml2.so.2.9.14"] => 10 }
        after = { ["/x/1/a.rb", 3, "/usr/lib/libxml2.so.16"] => 11 }
        assert_equal [["/x/1/a.rb:3 via libxml2.so.16", 10, 11]], changes(:line, before, after)
      end

      def test_stacks
        before = { ["/srv/app/releases/20260101120000/a.rb", 3] => 10 }
        after = { ["/srv/app/releases/20260202120000/a.rb", 3] => 30,
                  ["/srv/app/releases/20260202120000/a.rb", 4] => 2 }
        found = changes(:stack, before, after).map { |frames, was, is| [frames.map(&:lineno), was, is] }
        assert_equal [[[1, 3], 10, 30], [[1, 4], 0, 2]], found
      end
    end
  end
end
