# frozen_string_literal: true

# The benchmark's parts, in the order in which data passes through them.
%w[
  environment interpreter equipment tool workload runner statistics series comparison targets measurement machine
  remarks cells overhead_page options suite
].each { |part| require_relative "harness/#{part}" }
