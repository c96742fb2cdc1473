# frozen_string_literal: true

require "test_helper"
require "heapline/model/normalised_location"

module Heapline
  module Model
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
