# frozen_string_literal: true

require "test_helper"
require "heapline/model/flight_directory"
require "heapline/model/twin_inquiry"
require "support/accounted"

# Programs that hardly call malloc are asked for something: it is seen to at a GC, a switch of threads, after a sleep.
class AnsweringTest < Minitest::Test
  include Accounted

  THREADS = "2.times { Thread.new { number = 0; number += 1 while true } }; sleep"
  PROGRAMS = {
    objects: "loop { Object.new }",
    embedded: "loop { [1, 2]; { a: 1 }; 'abc'; 1.5e300 * 2 }",
    naps: "sleep 0.05 while true",
    # From 3.3 on Ruby reads no clock there.
    **(RUBY_VERSION < "3.3" ? { threads: THREADS } : {})
  }.freeze
  DEADLINE = 120
  TIMES = 3

  PROGRAMS.each do |name, text|
    # Also one right after another: of the copy before nothing is left.
    define_method("test_#{name}") do
      pid, = start(program("puts 1; $stdout.flush; #{text}"))
      entry = Heapline::Model::FlightDirectory.new({ "HEAPLINE_DIR" => path("flights") }).find(pid)
      TIMES.times do
        lines = +""
        Heapline::Model::TwinInquiry.new(entry, :stacks).read(timeout: DEADLINE) do |bytes|
          lines << bytes
        end
        assert_match(/"type":"THREAD"/, lines)
      end
    end
  end
end
