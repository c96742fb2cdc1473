# frozen_string_literal: true

# Visitors of the shop: ruby visitors.rb [URL] [SECONDS]. Prints how many pages they saw.
require "net/http"

url = URI(ARGV.fetch(0, "http://127.0.0.1:9292"))
seconds = Float(ARGV.fetch(1, "60"))
finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds

visitors = Array.new(4) do |visitor|
  Thread.new do
    random = Random.new(visitor)
    pages = 0
    Net::HTTP.start(url.host, url.port) do |http|
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
        path = case random.rand(10)
               when 0 then "/session"
               when 1 then "/preview/#{random.rand(1000)}"
               else "/products/#{random.rand(200)}"
               end
        http.get(path).value
        pages += 1
      end
    end
    pages
  end
end
puts "#{visitors.sum(&:value)} pages"
