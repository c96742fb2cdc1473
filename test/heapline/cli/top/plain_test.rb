# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/cli/top"
require "heapline/cli/top/plain"
require "heapline/cli/top/stage"

module Heapline
  module CLI
    class PlainTest < Minitest::Test
      include CliHelper

      def plain(path = own_flight, rows: 20, &at_frame)
        @path = path
        @out = StringIO.new
        @out.define_singleton_method(:puts) { |*lines| super(*lines).tap { at_frame&.call } }
        directory = Model::FlightDirectory.new("HEAPLINE_DIR" => @directory)
        @stage = Top::Stage.new(directory, directory.find(Process.pid))
        Top::Plain.new(@out, @stage, view: Format::Screen::View.new, every: 0.01, rows: rows, env: environment)
      end

      def teardown
        @stage&.close
        super
      end

      def test_one_frame_with_rates
        plain.run
        assert_equal 1, @out.string.scan("heapline top").size
        assert_match(%r{allocating 0/s in 0 calls/s}, @out.string)
        assert_match(%r{rack-1.0/leak.rb:12}, @out.string)
      end

      def test_frame_after_frame_until_the_process_ends
        ended = ->(path) { File.open(path, "r+b") { |file| file.seek(16) && file.write([2].pack("L")) } }
        plain { ended[@path] if @out.string.scan("heapline top").size == 3 }.run(repeat: true)
        assert_equal 4, @out.string.scan("heapline top").size
        assert_equal :exited, @stage.ending.state
      end
    end
  end
end
