# frozen_string_literal: true

require "test_helper"
require "heapline/rack"

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
