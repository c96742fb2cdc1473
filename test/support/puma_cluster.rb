# frozen_string_literal: true

require_relative "services"

# A Puma cluster of two workers under heapline, with the endpoint mounted, that leaks at a known line.
module PumaCluster
  include Services

  TOKEN = "0123456789abcdef0123456789abcdef"
  # Each request of /leak keeps one block of this many bytes.
  KEPT = 100_000

  CONFIG_RU = <<~RUBY
    require "heapline/rack"
    require_relative "leak"
    map("/heapline") { run Heapline::Rack::Endpoint.new(token: ENV.fetch("APPLICATION_TOKEN")) }
    map("/leak") { run Leak.new }
    map("/pass") { run ->(_env) { [200, { "content-type" => "text/plain" }, [("passed" * 1000).upcase]] } }
  RUBY
  LEAK_RB = <<~RUBY.freeze
    class Leak
      KEPT = []
      def keep = KEPT << ("x" * #{KEPT})
      def call(_env) = [200, { "content-type" => "text/plain" }, [keep && Process.pid.to_s]]
    end
  RUBY
  PUMA = 'load Gem.bin_path("puma", "puma")'

  # Yields nothing; `cluster` is there then.
  def setup
    super
    skip "the core is not compiled: rake compile" unless File.exist?(Heapline::TestHelper::CORE)
    skip "the gem puma is not installed" if Gem::Specification.find_all_by_name("puma").empty?
  end

  # Start it, and wait until both workers serve. Returns its address. options: of heapline, beside --quiet.
  def start_cluster(*options)
    File.write(place("config.ru"), CONFIG_RU)
    File.write(place("leak.rb"), LEAK_RB)
    File.write(place("puma.rb"), "workers 2\nthreads 1, 1\npreload_app!\nbind 'tcp://127.0.0.1:0'\n")
    @cluster = launch(*heapline_command("--quiet", *options), RbConfig.ruby, "-I#{Heapline::TestHelper::LIB}", "-e",
                      PUMA, "--", "-C", place("puma.rb"), place("config.ru"),
                      env: surroundings(APPLICATION_TOKEN: TOKEN))
    port = said(@cluster, %r{Listening on http://127\.0\.0\.1:(\d+)})
    @workers = Array.new(2) { |index| said(@cluster, /Worker #{index} \(PID: (\d+)\) booted/).to_i }
    @address = "http://127.0.0.1:#{port}"
  end

  # Let both workers leak. How many requests there were.
  def leak
    answered = Hash.new(0)
    await("one worker answers nothing") do
      answered[get("#{@address}/leak").body.to_i] += 1
      (@workers - answered.keys).empty?
    end
    answered.values.sum
  end
end
