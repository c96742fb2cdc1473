# frozen_string_literal: true

require_relative "support"
require "bundler/setup"

# Loading a large library: tens of thousands of sites, and nearly everything stays.
Workload.run(full: %w[rubocop], quick: %w[rubocop-ast]) do |libraries|
  libraries.each { |library| require library }
  Workload.check(defined?(RuboCop::AST::Node), "RuboCop's nodes are not defined")
  RuboCop::AST::Node.instance_methods(false).size
end
