# frozen_string_literal: true

# What a Gemfile requires: gem "heapline", require: "heapline/auto"
require "heapline"
require_relative "accounting/restart"

Heapline::Accounting::Restart.new.call
