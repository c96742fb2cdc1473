# frozen_string_literal: true

require "rspec/core/rake_task"
require "shellwords"
require_relative "testing/suite/task_options"

module Heapline
  # RSpec::Core::RakeTask, whose examples run under `heapline test`:
  #
  #   require "heapline/rspec_task"
  #   Heapline::RSpecTask.new("spec:memory")
  #
  # It fails where an example fails, and where one grows (fail_on = nil: not there).
  class RSpecTask < ::RSpec::Core::RakeTask
    include Suite::TaskOptions

    def initialize(name = "spec:memory", *)
      super
    end

    private

    def spec_command
      "#{heapline_words.shelljoin} #{super}"
    end
  end
end
