# frozen_string_literal: true

require "test_helper"
require "socket"
require "support/snapshots"
require "heapline/rack"

class RackEndpointTest < Minitest::Test
  include Snapshots

  TOKEN = "0123456789abcdef"

  def test_cannot_be_made_without_a_token
    assert_raises(Heapline::UsageError) { Heapline::Rack::Endpoint.new }
    assert_raises(Heapline::UsageError) { Heapline::Rack::Endpoint.new(token: ENV.fetch("HEAPLINE_NO_SUCH", nil)) }
    Heapline::Rack::Endpoint.new(open: true)
  end

  def test_asks_for_the_token
    status, headers, = call("/", endpoint: Heapline::Rack::Endpoint.new(token: TOKEN))
    assert_equal [401, "no-store"], [status, headers["cache-control"]]
  end

  def test_without_the_preload_it_says_so
    status, _, body = call("/each")
    assert_equal 503, status
    assert_match(/heapline ruby/, body.join)
  end

  def test_shows_this_process
    with_figures do
      status, headers, body = call("/each", "HTTP_ACCEPT" => "text/html", "SCRIPT_NAME" => "/heapline")
      assert_equal [200, "text/html; charset=utf-8"], [status, headers["content-type"]]
      assert_includes body.join, 'href="/heapline/at//app/leak.rb:12"'
    end
  end

  def test_head_has_the_same_headers_and_no_body
    with_figures do
      head = call("/json", "REQUEST_METHOD" => "HEAD")
      assert_equal [200, []], head.values_at(0, 2)
      assert_equal call("/json")[1].keys, head[1].keys
    end
  end

  def test_a_server_without_hijacking_waits_in_its_thread
    with_figures do
      endpoint = Heapline::Rack::Endpoint.new(open: true)
      waited = []
      endpoint.define_singleton_method(:sleep) { |seconds| waited << seconds }
      status, headers, = call("/debug/pprof/delta_heap", "QUERY_STRING" => "seconds=7", endpoint: endpoint)
      assert_equal [200, "application/vnd.google.protobuf+gzip", [7]], [status, headers["content-type"], waited]
    end
  end

  def test_with_hijacking_the_thread_is_free_at_once
    with_figures do
      endpoint = Heapline::Rack::Endpoint.new(open: true)
      near, far = UNIXSocket.pair
      go = Thread::Queue.new
      near.define_singleton_method(:wait_readable) { |_seconds| go.pop }
      status, = call("/debug/pprof/delta_heap", "QUERY_STRING" => "seconds=7", "rack.hijack?" => true,
                                                "rack.hijack" => -> { near }, endpoint: endpoint)
      assert_equal 200, status
      go << nil
      assert_match(%r{\AHTTP/1\.1 200 OK\r\n.*\x1f\x8b}mn, far.read)
      assert(await { near.closed? })
    ensure
      far&.close
    end
  end

  def test_a_client_that_has_gone_gives_its_place_back
    with_figures do
      endpoint = Heapline::Rack::Endpoint.new(open: true)
      (Heapline::Web::Router::WAITING * 2).times do
        near, far = UNIXSocket.pair
        far.close
        call("/debug/pprof/delta_heap", "QUERY_STRING" => "seconds=300", "rack.hijack?" => true,
                                        "rack.hijack" => -> { near }, endpoint: endpoint)
        assert(await { near.closed? })
      end
    end
  end

  def test_rack_finds_nothing_wrong_with_its_answers
    require "rack"
    with_figures do
      app = ::Rack::MockRequest.new(::Rack::Lint.new(Heapline::Rack::Endpoint.new(open: true)))
      %w[/ /each /each.json /metrics /debug/pprof/heap /nothing].each do |path|
        [app.get(path), app.head(path), app.post(path)].each { |answer| refute_equal 500, answer.status, path }
      end
    end
  rescue LoadError
    skip "the gem rack is not installed"
  end

  def test_hostile_requests_are_answered
    endpoint = Heapline::Rack::Endpoint.new(token: TOKEN)
    [{}, { "REQUEST_METHOD" => "GET", "PATH_INFO" => "/\xFF%FF\0", "QUERY_STRING" => "\xFF=%" },
     { "REQUEST_METHOD" => "GET", "HTTP_AUTHORIZATION" => "Basic \xFF" },
     { "REQUEST_METHOD" => "GET", "PATH_INFO" => "/at/\xFF", "HTTP_AUTHORIZATION" => "Bearer #{TOKEN}" }].each do |env|
      assert_includes [401, 404, 405, 503], endpoint.call(env).first
    end
  end

  private

  def call(path, endpoint: Heapline::Rack::Endpoint.new(open: true), **env)
    endpoint.call({ "REQUEST_METHOD" => "GET", "PATH_INFO" => path }.merge(env.transform_keys(&:to_s)))
  end

  def with_figures(&)
    figures = leaky
    replacing(Heapline, :snapshot, ->(*) { figures }, &)
  end
end

class RackMountTest < Minitest::Test
  APP = ->(env) { [200, {}, ["app #{env["SCRIPT_NAME"]}#{env["PATH_INFO"]}"]] }

  def test_only_its_own_path_is_taken
    ["/", "", "/heaplines", "/x/heapline", "/heap"].each do |path|
      assert_equal "app #{path}", call(path).last.join, path
    end
    ["/heapline", "/heapline/", "/heapline/each"].each { |path| assert_equal 503, call(path).first, path }
  end

  def test_links_begin_with_the_mount_point
    seen = nil
    mount = Heapline::Rack::Mount.new(APP, at: "/a/b", open: true)
    endpoint = mount.instance_variable_get(:@endpoint)
    endpoint.define_singleton_method(:call) { |env| seen = env.values_at("SCRIPT_NAME", "PATH_INFO") }
    mount.call("SCRIPT_NAME" => "/s", "PATH_INFO" => "/a/b/each")
    assert_equal ["/s/a/b", "/each"], seen
  end

  def test_refuses_what_it_cannot_do
    assert_raises(Heapline::UsageError) { Heapline::Rack::Mount.new(APP) }
    ["", "/", "heapline", "/heapline/"].each do |at|
      assert_raises(Heapline::UsageError, at) { Heapline::Rack::Mount.new(APP, at: at, open: true) }
    end
  end

  private

  def call(path)
    Heapline::Rack::Mount.new(APP, open: true).call("REQUEST_METHOD" => "GET", "PATH_INFO" => path)
  end
end
