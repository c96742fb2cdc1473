# frozen_string_literal: true

require_relative "rails_application"

# The start of a Rails application, with all that it loads; nothing is served.
Workload.run(full: 1, quick: 1) do
  Workload.check(Rails.application.initialized?, "the application is not there")
  Rails.application.routes.routes.size
end
