# frozen_string_literal: true

require "test_helper"
require "heapline/extension"

module Heapline
  class ExtensionTest < Minitest::Test
    def refusal(name, path)
      error = LoadError.new("libzstd.so.1: cannot open shared object file")
      error.define_singleton_method(:path) { path }
      replacing(Extension, :require, ->(_) { raise error }) do
        return assert_raises(Error) { Extension.load(name) }.message
      end
    end

    def test_an_installation_without_it_names_the_packages
      assert_equal <<~TEXT.chomp, refusal(:capture, "heapline/capture.so")
        captures can be neither written nor read: this heapline was built without a C++17 compiler or zstd
          Debian, Ubuntu   apt-get install g++ libzstd-dev
          Fedora, RHEL     dnf install gcc-c++ libzstd-devel
          Alpine           apk add g++ zstd-dev
          Arch             pacman -S gcc zstd
        then install the gem again: gem pristine heapline
      TEXT
      message = refusal(:heap, "heapline/heap.so")
      %w[apt-get dnf apk pacman libsimdjson-dev].each { |word| assert_includes message, word }
    end

    def test_a_library_that_went_is_named
      Extension::ALL.each_key do |name|
        assert_includes refusal(name, "/gems/heapline/#{name}.so"), "libzstd.so.1"
      end
    end
  end
end
