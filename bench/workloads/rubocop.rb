# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "rubocop"

# RuboCop judges the workloads themselves with its own configuration.
Workload.run(full: 12, quick: 1) do |count|
  config = RuboCop::ConfigLoader.default_configuration
  cops = RuboCop::Cop::Registry.all
  found = Dir[File.join(__dir__, "*.rb")].first(count).map do |file|
    source = RuboCop::ProcessedSource.from_file(file, 3.1)
    source.config = config
    source.registry = RuboCop::Cop::Registry.global
    report = RuboCop::Cop::Team.mobilize(cops, config).investigate(source)
    Workload.check(report.errors.empty?, "a cop failed: #{report.errors.first}")
    report.offenses.size
  end
  Workload.check(found.sum.positive?, "nothing was found")
  found.join(" ")
end
