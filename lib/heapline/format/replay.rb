# frozen_string_literal: true

module Heapline
  module Format
    # The formats of a Model::Replay::Comparison by name, each one file and one class in replay/.
    module Replay
      NAMES = { "text" => :Text, "json" => :Json, "csv" => :Csv, "svg" => :Svg, "html" => :Html }.freeze

      # A format that is ready to render. env: for what the terminal can show.
      def self.make(name, env: ENV)
        require_relative "replay/#{name}"
        name == "text" ? Text.new(env: env) : const_get(NAMES.fetch(name)).new
      end
    end
  end
end
