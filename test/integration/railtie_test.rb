# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# The railtie in a real Rails application, where Rails is installed: `rake rails` does so.
class RailtieIntegrationTest < Minitest::Test
  include FlightRun

  APPLICATION = <<~RUBY
    require "logger"
    require "rails"
    require "action_controller/railtie"
    require "heapline/railtie"
    class Application < Rails::Application
      config.eager_load = false
      config.secret_key_base = "x" * 64
      config.hosts.clear
      config.logger = Logger.new(File::NULL)
      %<options>s
      tag = -> { Heapline.snapshot.group_by(:tag).keys.compact.first || "no tag" }
      routes.append { root to: ->(_env) { [200, {}, [tag.call]] } }
    end
    Application.initialize!
    request = lambda do |path, headers = {}|
      status, _, body = Application.call(Rack::MockRequest.env_for(path, headers))
      "\#{status} \#{body.each.first.to_s[0, 8]}"
    end
    puts request.call("/"), request.call("/heapline/each"),
         request.call("/heapline/each", "HTTP_AUTHORIZATION" => "Bearer 0123456789abcdef")
  RUBY
  OPTIONS = <<~RUBY
    config.heapline.tag_requests = true
    config.heapline.mount = "/heapline"
    config.heapline.token = "0123456789abcdef"
  RUBY

  def setup
    super
    skip "no gem railties: rake rails brings it" if Gem::Specification.find_all_by_name("railties").empty?
  end

  def test_what_is_asked_for_is_added
    assert_equal ["200 GET /", "401 heapline", "200 heapline"], boot(OPTIONS)
  end

  def test_nothing_else_is
    first, *others = boot("")
    assert_equal ["200 no tag", "404", "404"], [first, *others.map { |line| line[0, 3] }]
  end

  private

  def boot(options)
    file = script(format(APPLICATION, options: options))
    environment = { "GEM_PATH" => Gem.path.join(":"), "RAILS_ENV" => "production" }
    run = flight(ruby("-I", Heapline::TestHelper::LIB, file, gems: true), env: environment)
    assert run.status.success?, run.error
    run.output.lines(chomp: true)
  end
end
