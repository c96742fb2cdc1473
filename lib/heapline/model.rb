# frozen_string_literal: true

require_relative "model/flight"
require_relative "model/flight_directory"
require_relative "model/known_process"
require_relative "model/ledger"
require_relative "model/process_memory"
require_relative "model/process_tree"
