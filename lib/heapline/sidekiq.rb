# frozen_string_literal: true

require "heapline"
require "heapline/accounting/tag"

module Heapline
  # Server middleware for Sidekiq and what calls middleware like it: a job owns what it allocates, under its class name.
  #
  #   require "heapline/sidekiq"
  #   Sidekiq.configure_server { |config| config.server_middleware { |chain| chain.add Heapline::Sidekiq } }
  #
  # Without the preload it only calls on. At most `limit` different tags, all further ones are "(other)".
  class Sidekiq
    def initialize(limit = Labels::LIMIT)
      @labels = Labels.new(limit)
    end

    # worker: the job's instance; job: its payload (Hash with "class", and "wrapped" where Active Job wraps another);
    # queue: its name (String). Returns the block's value.
    def call(worker, job, _queue, &)
      return yield unless Heapline.enabled?

      Heapline.tag(@labels.admit(label(worker, job)), &)
    end

    private

    def label(worker, job)
      (job["wrapped"] || job["class"] || worker.class).to_s
    end
  end
end
