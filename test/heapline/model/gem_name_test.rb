# frozen_string_literal: true

require "test_helper"
require "heapline/model/gem_name"

module Heapline
  module Model
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
  end
end
