# frozen_string_literal: true

require "test_helper"
require "heapline/recording/extension"

module Heapline
  class Recording
    class ExtensionTest < Minitest::Test
      def refusal(error)
        replacing(Extension, :require, ->(_) { raise error }) do
          return assert_raises(Error) { Extension.drain_class }.message
        end
      end

      def load_error(path)
        LoadError.new("libzstd.so.1: cannot open shared object file").tap do |error|
          error.define_singleton_method(:path) { path }
        end
      end

      def test_an_installation_without_it_names_the_packages
        message = refusal(load_error(Extension::FEATURE))
        %w[apt-get dnf apk pacman libzstd-dev].each { |word| assert_includes message, word }
      end

      def test_a_library_that_went_is_named
        assert_includes refusal(load_error("/gems/heapline/capture.so")), "libzstd.so.1"
      end
    end
  end
end
