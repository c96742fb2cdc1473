# frozen_string_literal: true

require "socket"

# The load: `ruby web_client.rb PORT REQUESTS CONNECTIONS` asks that many times over so many kept connections. It prints
# the wall seconds, the 99th percentile of the answer times in milliseconds, and how many answers were not a 200. A
# fixed number of requests, rather than a fixed time, so that the server does the same work under every tool.
class WebClient
  REQUEST = "GET /?shop=7 HTTP/1.1\r\nHost: localhost\r\n\r\n"

  def initialize(port, requests, connections)
    @port = port
    @connections = connections
    @each = requests / connections
  end

  # [seconds, p99_ms, failed]
  def run
    started = now
    answers = Array.new(@connections) { Thread.new { ask_repeatedly } }.flat_map(&:value)
    seconds = now - started
    good = answers.compact.sort
    [seconds, good.fetch((good.size * 0.99).floor) * 1_000, answers.size - good.size]
  end

  private

  # The time of each answer in seconds, nil where it was not a 200.
  def ask_repeatedly
    TCPSocket.open("127.0.0.1", @port) do |socket|
      socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      Array.new(@each) { ask(socket) }
    end
  end

  def ask(socket)
    started = now
    socket.write(REQUEST)
    good = socket.gets&.start_with?("HTTP/1.1 200")
    length = 0
    while (line = socket.gets) && line != "\r\n"
      length = Integer(line[/\d+/]) if line.downcase.start_with?("content-length:")
    end
    body = socket.read(length)
    now - started if good && body&.bytesize == length
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

# So few answers fit into memory, and a collection here would count as the server's delay.
GC.disable
puts WebClient.new(*ARGV.map { |number| Integer(number) }).run.join(" ")
