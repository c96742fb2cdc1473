# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "support/snapshots"
require "heapline/web/router"

module Heapline
  module Web
    class RouterTest < Minitest::Test
      include Snapshots

      PATHS = {
        "" => [:index, nil, false, {}], "/" => [:index, nil, false, {}], "/4711" => [:index, 4711, false, {}],
        "/4711/" => [:index, 4711, false, {}], "/tree" => [:index, nil, true, {}],
        "/4711/tree/" => [:index, 4711, true, {}], "/each" => [:each, nil, false, {}],
        "/4711/each.csv" => [:each, 4711, false, { format: "csv" }], "/json" => [:each, nil, false, { format: "json" }],
        "/tree/at//app/a.rb:1" => [:at, nil, true, { location: "/app/a.rb:1" }],
        "/at/x" => [:at, nil, false, { location: "x" }], "/metrics" => [:metrics, nil, false, {}],
        "/processes.json" => [:processes, nil, false, { format: "json" }],
        "/4711/debug/pprof/heap" => [:heap, 4711, false, {}], "/debug/pprof/allocs" => [:allocs, nil, false, {}],
        "/debug/pprof/delta_heap" => [:delta_heap, nil, false, {}]
      }.freeze

      # What the router asks for, instead of answers.
      Asked = Struct.new(:pid, :tree) do
        Router::ACTIONS.each_key { |name| define_method(name) { |**found| [name, pid, tree, found] } }
      end

      def test_each_path_is_its_action
        PATHS.each { |path, expected| assert_equal expected, route(path), path }
      end

      def test_the_query_can_name_the_process_too
        assert_equal [:each, 4711, false, {}], route("/each", query: "pid=4711")
        assert_equal [:metrics, nil, true, {}], route("/metrics", query: "pid=tree")
      end

      def test_all_else_is_missing
        ["x", "/x", "/each/", "/eachx", "/4711x/each", "/at/", "/debug/pprof", "/debug/pprof/profile", "//",
         "/tree/tree/", "/99999999999/each", "/each.csv.json", "/\xFF"].each do |path|
          error = assert_raises(Missing, path) { route(path) }
          assert_predicate error.message, :valid_encoding?
        end
        assert_raises(Missing) { route("/each", query: "pid=all%FF") }
      end

      def test_only_so_many_wait_at_a_time
        router = Router.new(processes)
        request = Request.new(verb: "GET", path: "/debug/pprof/delta_heap", query: "seconds=1")
        waiting = Array.new(Router::WAITING) { router.call(request) }
        assert_raises(Busy) { router.call(request) }
        waiting.first.take { false }
        assert_kind_of Later, router.call(request)
      end

      private

      def route(path, query: "")
        Answers.stub(:new, ->(_processes, _request, pid:, tree:) { Asked.new(pid, tree) }) do
          Router.new(nil).call(Request.new(verb: "GET", path: path, query: query))
        end
      end

      def processes
        snapshot = leaky
        Object.new.tap do |fake|
          fake.define_singleton_method(:default) { 4711 }
          fake.define_singleton_method(:snapshot) { |_pid, **| snapshot }
        end
      end
    end
  end
end
