# frozen_string_literal: true

# Two forked workers, as in production.
workers 2
threads 3, 3
preload_app!
bind "tcp://127.0.0.1:#{ENV.fetch("PORT", "9292")}"
