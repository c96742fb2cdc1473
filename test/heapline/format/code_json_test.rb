# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "heapline/format/code"
require "heapline/format/code_json"
require "support/code_lines"

module Heapline
  module Format
    class CodeJsonTest < Minitest::Test
      include CodeLines

      def test_one_object
        io = StringIO.new
        CodeJson.new.render(Code.new.sheet(code, "4711"), io)
        object = JSON.parse(io.string)
        assert_equal({ "role" => nil, "source" => "4711", "pid" => 4711, "ruby" => "ruby 3.4.1 (2026)",
                       "at" => "2026-11-21T10:00:00.000000Z", "generation" => 9 }, object["dumps"].first)
        assert_equal ["code", true, 6, 2],
                     [object["kind"], object["complete"], *object["totals"].values_at("count", "copies")]
        assert_equal({ "site" => "lib/pages.rb:12", "bytes" => 1400, "count" => 4, "copies" => 2, "copy_bytes" => 700,
                       "unreached" => 0, "oldest" => 3, "newest" => 5, "live_bytes" => 5000, "example" => "0x20" },
                     object["by_site"].first)
      end
    end
  end
end
