# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"
require "support/flight_builder"

module Heapline
  module Accounting
    # The builder of the tests and docs/flight-file.md speak of the layout that the C compiler sees.
    class LayoutTest < Minitest::Test
      SOURCE = <<~C
        #include <stdio.h>
        #include "flight/flight_layout.h"
        #define FIELD(name) printf("%s %zu\\n", #name, __builtin_offsetof(struct hl_flight_header, name));
        int main(void) { %<fields>s return 0; }
      C

      def offsets
        fields = FlightBuilder::HEADER.keys.map { |name| "FIELD(#{name})" }.join(" ")
        in_directory do |directory|
          source = File.join(directory, "layout.c")
          File.write(source, SOURCE.sub("%<fields>s", fields))
          compiler = RbConfig::CONFIG["CC"].split.first
          layout = File.join(ROOT, "ext", "heapline_core")
          output, status = Open3.capture2e(compiler, "-I#{layout}", source, "-o", "#{directory}/layout")
          assert status.success?, output
          return Open3.capture2e("#{directory}/layout").first.lines.to_h do |line|
            line.split.then do |n, o|
              [n.to_sym, o.to_i]
            end
          end
        end
      end

      def test_header_offsets
        assert_equal(FlightBuilder::HEADER.transform_values(&:first), offsets)
      end
    end
  end
end
