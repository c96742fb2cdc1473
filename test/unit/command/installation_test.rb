# frozen_string_literal: true

require "test_helper"
require "heapline/command/installation"

module Heapline
  module Command
    class InstallationTest < Minitest::Test
      def test_the_reporter_is_a_command_that_exists
        ruby, *arguments = replacing(Installation, :core, "/gems/heapline/libheapline.so") { Installation.reporter }
        assert File.executable?(ruby)
        assert File.file?(arguments[-3])
        assert_equal %w[report --exit], arguments.last(2)
      end

      def test_where_the_kernel_does_not_name_a_ruby_its_configuration_does
        ["/lib/ld-linux.so.2", "/gone/ruby (deleted)"].each do |path|
          assert_equal RbConfig.ruby, replacing(File, :readlink, path) { Installation.ruby }
        end
        assert_equal RbConfig.ruby, replacing(File, :readlink, ->(*) { raise Errno::ENOENT }) { Installation.ruby }
      end

      def test_a_core_that_ld_preload_cannot_name_is_refused
        replacing(Installation, :core, "/my gems/libheapline.so") do
          assert_match(/there is a space or a colon/, assert_raises(Error) { Installation.preloadable_core }.message)
        end
      end

      def test_a_core_that_is_missing_says_how_to_make_it
        replacing(File, :file?, false) do
          assert_match(/run `rake compile`/, assert_raises(Error) { Installation.core }.message)
        end
      end
    end
  end
end
