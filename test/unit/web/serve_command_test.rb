# frozen_string_literal: true

require "test_helper"
require "net/http"
require "support/cli"
require "heapline/web/serve_command"

module Heapline
  module Web
    class ServeCommandTest < Minitest::Test
      include CliHelper

      TOKEN = "0123456789abcdef"

      def test_what_cannot_be_is_refused
        assert_equal 2, heapline("serve", "4711").status
        assert_equal 2, heapline("serve", "--port", "65536").status
        assert_equal 2, heapline("serve", "--port", "0", "--unix", "/tmp/x").status
        assert_match(/token/, heapline("serve", "--port", "0", env: { "HEAPLINE_TOKEN" => "short" }).err)
        assert_equal 2, heapline("serve", "--token-file", File.join(@directory, "none")).status
      end

      def test_serves_on_loopback_with_a_new_token
        own_flight
        serving("--port", "0") do |line|
          address, token = line.match(%r{(http://127\.0\.0\.1:\d+)/; the token is (\h{32})}).captures
          assert_equal "401", get("#{address}/").code
          assert_includes get("#{address}/", token).body, " #{own_command} "
        end
      end

      def test_takes_the_token_from_a_file_or_the_environment
        file = File.join(@directory, "token")
        File.write(file, "#{TOKEN}\n")
        [[["--token-file", file], {}], [[], { "HEAPLINE_TOKEN" => TOKEN }]].each do |words, env|
          serving("--port", "0", *words, env: env) do |line|
            refute_includes line, TOKEN
            assert_equal "200", get("#{line[%r{http://[\d.:]+}]}/", TOKEN).code
          end
        end
      end

      def test_open_needs_none
        serving("--port", "0", "--open") { |line| assert_equal "200", get("#{line[%r{http://[\d.:]+}]}/").code }
      end

      def test_a_unix_socket_goes_with_the_server
        path = File.join(@directory, "socket")
        serving("--unix", path) do |line|
          assert_includes line, path
          UNIXSocket.open(path) do |socket|
            socket.write("GET /processes HTTP/1.0\r\n\r\n")
            assert_match(/ 200 /, socket.read)
          end
        end
        refute_path_exists path
      end

      private

      # Yields the line that the server says, and ends it with a signal.
      def serving(*words, env: {})
        reader, writer = IO.pipe
        thread = Thread.new { CLI.start(["serve", *words], env: environment.merge(env), out: writer, err: writer) }
        line = reader.wait_readable(PATIENCE) && reader.gets
        yield line
      ensure
        Process.kill(:TERM, Process.pid) if line&.start_with?("heapline serves")
        assert thread.join(PATIENCE), "the server did not end"
        assert_equal 0, thread.value
        [reader, writer].each(&:close)
      end

      def get(address, token = nil)
        uri = URI(address)
        request = Net::HTTP::Get.new(uri)
        request["Authorization"] = "Bearer #{token}" if token
        Net::HTTP.start(uri.host, uri.port) { |http| http.request(request) }
      end
    end
  end
end
