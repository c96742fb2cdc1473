# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"

# With a stand-in for Rails that has what the railtie uses of it. With Rails itself: test/integration/railtie_test.rb.
class RailtieTest < Minitest::Test
  STAND_IN = <<~RUBY
    module Rails; end
    module ActiveSupport
      class OrderedOptions < Hash
        def method_missing(name, *values) = name.end_with?("=") ? self[name.to_s.chomp("=").to_sym] = values.first : self[name]
        def respond_to_missing?(*) = true
      end
    end
    class Rails::Railtie
      def self.config = (@config ||= ActiveSupport::OrderedOptions.new)
      def self.initializer(name, &block) = (@@initializer = block)
      def self.boot(app) = @@initializer.call(app)
    end
    class Stack
      def added = (@added ||= [])
      def insert_before(place, *rest) = added << [:insert_before, place, *rest]
      def use(*rest) = added << [:use, *rest]
    end
    App = Struct.new(:config, :middleware)
    $LOADED_FEATURES << "rails/railtie.rb"
  RUBY

  def test_adds_nothing_by_itself
    assert_equal "[]", boot("")
  end

  def test_adds_what_is_asked_for
    assert_equal "[[:insert_before, 0, Heapline::Rack]]", boot("options.tag_requests = true")
    added = boot('options.mount = "/heapline"; options.token = "0123456789abcdef"')
    assert_match(%r{\A\[\[:use, Heapline::Rack::Mount, \{.*at.*"/heapline".*token.*\}\]\]\z}, added)
  end

  private

  # The middlewares that were added.
  def boot(configuration)
    script = <<~RUBY
      #{STAND_IN}
      require "heapline/railtie"
      options = Heapline::Railtie.config.heapline
      #{configuration}
      app = App.new(Heapline::Railtie.config, Stack.new)
      Rails::Railtie.boot(app)
      print app.middleware.added.inspect
    RUBY
    out, status = Open3.capture2e(plain_environment, RbConfig.ruby, "-I", Heapline::TestHelper::LIB, "-e", script)
    assert_predicate status, :success?, out
    out
  end
end
