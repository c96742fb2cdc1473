# frozen_string_literal: true

require "test_helper"
require "heapline/capture/extension"

module Heapline
  class Capture
    class ExtensionTest < Minitest::Test
      def refusal(path)
        error = LoadError.new("libzstd.so.1: cannot open shared object file")
        error.define_singleton_method(:path) { path }
        replacing(Extension, :require, ->(_) { raise error }) do
          return assert_raises(Error) { Extension.load }.message
        end
      end

      def test_an_installation_without_it_names_the_packages
        %w[apt-get dnf apk pacman libzstd-dev].each { |word| assert_includes refusal(Extension::FEATURE), word }
      end

      def test_a_library_that_went_is_named
        assert_includes refusal("/gems/heapline/capture.so"), "libzstd.so.1"
      end
    end
  end
end
