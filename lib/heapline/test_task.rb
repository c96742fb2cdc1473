# frozen_string_literal: true

require "rake/testtask"
require "shellwords"
require_relative "testing/suite/task_options"

module Heapline
  # Rake::TestTask, whose tests run under `heapline test`:
  #
  #   require "heapline/test_task"
  #   Heapline::TestTask.new("test:memory") { |task| task.pattern = "test/**/*_test.rb" }
  #
  # It fails where a test fails, and where one grows (fail_on = nil: not there).
  class TestTask < ::Rake::TestTask
    include Suite::TaskOptions

    def initialize(name = "test:memory")
      super
    end

    # Rake's task calls it with the words of the test process, as one String.
    def ruby(arguments, ...)
      sh("#{[*heapline_words, RUBY].shelljoin} #{arguments}", ...)
    end
  end
end
