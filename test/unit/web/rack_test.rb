# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "heapline/rack"

class RackTest < Minitest::Test
  RESPONSE = [200, { "content-type" => "text/plain" }, ["ok"]].freeze
  PATHS = {
    "/" => "GET /", "" => "GET /", "/orders" => "GET /orders", "/orders/4711" => "GET /orders/:id",
    "/orders/4711/lines/2" => "GET /orders/:id/lines/:id", "/2024-05-01/news" => "GET /:id/news",
    "/u/0b0f8f6e-3c1b-4a55-9a44-6a1b7c1d2e3f" => "GET /u/:id", "/blobs/deadbeef01" => "GET /blobs/:id",
    "/facade" => "GET /facade", "/t/#{"x" * 40}" => "GET /t/:id", "/a/b/c/d/e/f/g/h" => "GET /a/b/c/d/e/f/…"
  }.freeze

  def test_the_template_names_kinds_of_paths
    PATHS.each { |path, template| assert_equal template.b, template_of("GET", path).b, path }
  end

  def test_the_template_takes_hostile_requests
    assert_equal "OTHER /orders", template_of("DROP TABLE", "/orders")
    assert_equal "GET /\xFF\x00".b, template_of("GET", "/\xFF\x00").b
    assert_equal "OTHER /", Heapline::Rack.template({})
  end

  def test_the_mount_point_counts
    env = { "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "/shop", "PATH_INFO" => "/orders/1" }
    assert_equal "GET /shop/orders/:id", Heapline::Rack.template(env)
  end

  def test_only_calls_on_without_the_preload
    asked = false
    app = Heapline::Rack.new(->(_env) { RESPONSE }) { asked = true }
    assert_same RESPONSE, app.call({})
    refute asked
  end

  def test_labels_the_request
    labels = labelled { |on| Heapline::Rack.new(on).call("REQUEST_METHOD" => "GET", "PATH_INFO" => "/orders/3") }
    assert_equal ["GET /orders/:id"], labels
  end

  def test_takes_the_applications_label
    labels = labelled { |on| Heapline::Rack.new(on) { |env| env["route"] }.call("route" => "orders#show") }
    assert_equal ["orders#show"], labels
  end

  def test_the_number_of_labels_is_bounded
    labels = labelled do |on|
      app = Heapline::Rack.new(on, limit: 3) { |env| env["path"] }
      10.times { |number| app.call("path" => "/#{number}") }
    end
    assert_equal %w[/0 /1 /2] + (["(other)"] * 7), labels
  end

  private

  def template_of(verb, path)
    Heapline::Rack.template("REQUEST_METHOD" => verb, "PATH_INFO" => path)
  end

  # The labels that the middleware gave, as if the preload were there.
  def labelled
    labels = []
    tag = lambda do |label, &block|
      labels << label
      block.call
    end
    Heapline.stub(:enabled?, true) { Heapline.stub(:tag, tag) { yield ->(_env) { RESPONSE } } }
    labels
  end
end
