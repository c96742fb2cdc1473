# frozen_string_literal: true

require "test_helper"
require "heapline/places/location"

module Heapline
  module Places
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

    class BaseNameTest < Minitest::Test
      def test_what_stands_behind_the_last_slash
        { "/usr/lib/libz.so" => "libz.so", "ruby" => "ruby", "/" => "", "" => "", "a/b\0c" => "b\0c",
          "x/\xff\xfe.so" => "\xff\xfe.so", nil => nil }.each do |path, name|
          assert_equal [name, name&.encoding], [BaseName.of(path), BaseName.of(path)&.encoding]
        end
      end
    end

    class GemNameTest < Minitest::Test
      PATHS = {
        "/var/lib/gems/3.1.0/gems/rack-2.2.3/lib/rack.rb" => "rack",
        "/g/gems/ruby-prof-1.4.3/lib/x.rb" => "ruby-prof",
        "/g/gems/nokogiri-1.16.0-x86_64-linux/lib/nokogiri.rb" => "nokogiri",
        "/g/gems/http-2-0.11.0/lib/http/2.rb" => "http-2",
        "/g/extensions/x86_64-linux/3.1.0/redcarpet-3.5.0/redcarpet.so" => "redcarpet",
        "/g/bundler/gems/my-gem-0123456789ab/lib/x.rb" => "my-gem",
        "/g/gems/bundler-2.3.0/vendor/gems/rake-13.0.6/lib/rake.rb" => "rake",
        "/usr/lib/ruby/3.1.0/set.rb" => "ruby stdlib",
        "/usr/lib/ruby/vendor_ruby/rubygems.rb" => "ruby stdlib",
        "/usr/lib/x86_64-linux-gnu/ruby/3.1.0/socket.so" => "ruby stdlib",
        "/opt/r/lib/ruby/4.0.0/set.rb" => "ruby stdlib",
        "/usr/lib/ruby/gems/3.1.0/specifications/default/csv-3.2.2.gemspec" => "ruby stdlib",
        "<internal:kernel>" => "ruby core",
        "/app/gems.rb" => nil, "leak.rb" => nil, "(eval)" => nil, "" => nil, nil => nil
      }.freeze

      def test_names
        assert_equal(PATHS, PATHS.to_h { |path, _| [path, GemName.of(path)] })
      end

      LIBRARIES = {
        "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2" => "ruby core", "/opt/r/bin/ruby" => "ruby core",
        "/usr/bin/ruby3.1" => "ruby core", nil => "ruby core",
        "/usr/lib/x86_64-linux-gnu/libc.so.6" => "system libraries",
        "/lib64/ld-linux-x86-64.so.2" => "system libraries",
        "/g/extensions/x86_64-linux/3.1.0/redcarpet-3.5.0/redcarpet.so" => "redcarpet",
        "/usr/lib/x86_64-linux-gnu/ruby/3.1.0/socket.so" => "ruby stdlib", "/app/ext/fast.so" => nil
      }.freeze

      def test_names_of_libraries
        assert_equal(LIBRARIES, LIBRARIES.to_h { |path, _| [path, GemName.of_library(path)] })
      end

      def test_invalid_bytes
        assert_equal "rack", GemName.of("/g/gems/rack-2.2.3/lib/\xff.rb")
      end
    end

    class NormalisedLocationTest < Minitest::Test
      # Each line: locations that are the same one.
      SAME = [
        %w[/app/releases/20260101120000/app/models/order.rb:12 /app/releases/20260315080000/app/models/order.rb:12
           /app/current/app/models/order.rb:12 /app/releases/57/app/models/order.rb:12],
        %w[/usr/lib/gems/rack-3.0.8/lib/rack.rb:5 /app/vendor/bundle/ruby/3.4.0/gems/rack-3.0.9/lib/rack.rb:5
           /app/releases/20260101120000/vendor/bundle/ruby/3.1.0/gems/rack-3.1.0.rc1/lib/rack.rb:5
           /b/bundler/gems/rack-0123456789ab/lib/rack.rb:5],
        %w[/b/gems/nokogiri-1.16.0-x86_64-linux/lib/n.rb:1 /b/gems/nokogiri-1.17.2/lib/n.rb:1],
        %w[/usr/lib/ruby/3.1.0/set.rb:9 /opt/ruby/lib/ruby/3.4.0/set.rb:9],
        ["/var/lib/docker/overlay2/#{"0a" * 32}/merged/app/a.rb:1", "/app/a.rb:1", "/proc/77/root/app/a.rb:1",
         "/run/containerd/io/rootfs/app/a.rb:1", "/tmp/build_0a1b2c/a.rb:1"],
        %w[/srv/app-20260101/a.rb:1 /srv/app-20260202/a.rb:1],
        %w[/srv/4f2a91c0d3be/a.rb:1 /srv/0f2a91c0d3bf/a.rb:1],
        ["(eval at /app/releases/20260101/a.rb:12):1", "(eval at /app/releases/20260202/a.rb:12):1"]
      ].freeze
      DIFFERENT = %w[/app/a.rb:1 /app/a.rb:2 /app/b.rb:1 /srv/app/a.rb:1 /b/gems/rack-3.0/a.rb:1 /b/gems/rake-3.0/a.rb:1
                     /b/gems/rack-test-3.0/a.rb:1 /app/deadbeefcafe/a.rb:1 /app/2026/a.rb:1].freeze

      def test_the_same
        SAME.each { |same| assert_equal 1, same.map { |text| NormalisedLocation.of(text) }.uniq.size, same.inspect }
      end

      def test_different
        assert_equal DIFFERENT.size, DIFFERENT.map { |text| NormalisedLocation.of(text) }.uniq.size
      end

      def test_invalid_bytes
        assert_equal "/a/\xff.rb:1".b, NormalisedLocation.of("/a/\xff.rb:1").b
      end

      def test_libraries
        assert_equal(%w[libxml2.so libruby.so libx.so m.so],
                     %w[libxml2.so.2.9.14 libruby-3.1.so.3.1 libx.so m.so].map do |name|
                       NormalisedLocation.library(name)
                     end)
      end

      def test_native_code_is_its_symbol
        native = NormalisedLocation.method(:native)
        assert_equal native.call("libxml2.so.2+0x10", "xmlNew+0x4", "libxml2.so.2"),
                     native.call("libxml2.so.16+0x88", "xmlNew+0x9", "libxml2.so.16")
        assert_equal "libxml2.so.2+0x10", native.call("libxml2.so.2+0x10", nil, "libxml2.so.2")
      end
    end
  end
end
