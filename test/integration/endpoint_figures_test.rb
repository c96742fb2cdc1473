# frozen_string_literal: true

require "test_helper"
require "support/answers"

# What an answer of the endpoint allocates, as seen in the figures of the process that gives it.
class EndpointFiguresTest < Minitest::Test
  include Answers

  LOOKING = <<~RUBY
    require "heapline/rack"
    endpoint = Heapline::Rack::Endpoint.new(open: true)
    look = lambda do
      %w[/ /each.html /each.json /each.csv /metrics /debug/pprof/heap /processes.json /nothing].map do |path|
        endpoint.call("REQUEST_METHOD" => "GET", "PATH_INFO" => path, "HTTP_ACCEPT" => "text/html").first
      end
    end
    own = lambda do
      Heapline.rows.select { |row| row.location.include?("/lib/heapline/") }.to_h { |row| [row.location, row.allocations] }
    end
    2.times { look.call }
    # Some tries: what the VM asks for on its own account may fall on one of these lines.
    more = Array.new(3) do
      before = own.call
      3.times { look.call }
      own.call.reject { |location, allocations| before[location] == allocations }
    end
    answer statuses: look.call, more: more
  RUBY

  def test_looking_changes_nothing
    found = ask(LOOKING)
    assert_equal [200, 200, 200, 200, 200, 200, 200, 404], found[:statuses]
    assert(found[:more].any?(&:empty?), found[:more].inspect)
  end
end
