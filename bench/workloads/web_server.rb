# frozen_string_literal: true

require_relative "shop"
require "puma"
require "puma/server"
require_relative "served"

Workload.run(full: 20_000, quick: 40) { |requests| Served.measure(Shop.new, threads: 4, requests: requests) }
