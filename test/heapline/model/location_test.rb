# frozen_string_literal: true

require "test_helper"
require "heapline/model"

module Heapline
  module Model
    class LocationTest < Minitest::Test
      def test_a_ruby_line
        location = Location.new(path: "app.rb", lineno: 12, label: "A#b")
        assert_equal ["app.rb:12", "app.rb:12", nil], [location.to_s, location.name, location.via]
        assert location.frozen?
      end

      def test_a_ruby_line_by_way_of_a_library
        location = Location.new(path: "/g/gems/nokogiri-1.0/x.rb", lineno: 1, library: "libxml2.so.2")
        assert_equal "/g/gems/nokogiri-1.0/x.rb:1 via libxml2.so.2", location.name
        assert_equal "nokogiri", location.gem
      end

      def test_native_code
        location = Location.new(library: "libxml2.so.2", library_path: "/g/gems/n-1.0/libxml2.so.2", offset: 0x1f30)
        assert_equal ["libxml2.so.2+0x1f30", "libxml2.so.2+0x1f30", "n"], [location.to_s, location.name, location.gem]
        assert_equal "ruby+0x0", Location.new.to_s
      end

      def test_special_places
        assert_equal "(other)", Location.new(special: "(other)").name
      end
    end
  end
end
