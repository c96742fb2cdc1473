# frozen_string_literal: true

require_relative "errors"

module Heapline
  # The output formats by name. Each is one file and one class in format/ that is made with its options and has
  # `render(snapshot, io)`; it is loaded when it is asked for.
  module Format
    NAMES = { "text" => :Text, "json" => :Json, "csv" => :Csv, "collapsed" => :Collapsed, "speedscope" => :Speedscope,
              "pprof" => :Pprof, "prometheus" => :Prometheus, "openmetrics" => :OpenMetrics, "html" => :Html }.freeze
    # File names by their end, the longest first.
    EXTENSIONS = { ".speedscope.json" => "speedscope", ".pb.gz" => "pprof", ".pprof" => "pprof", ".json" => "json",
                   ".csv" => "csv", ".collapsed" => "collapsed", ".folded" => "collapsed", ".prom" => "prometheus",
                   ".html" => "html" }.freeze
    FILES = { "openmetrics" => "open_metrics" }.freeze

    # The class of a format, loaded now. Raises UsageError where there is none of that name.
    def self.fetch(name)
      constant = NAMES.fetch(name) { raise UsageError, "no such format: #{name}; there are #{NAMES.keys.join(", ")}" }
      require_relative "format/#{FILES.fetch(name, name)}"
      const_get(constant)
    end

    # The name of the format that a file of this name is to have; text where its end says nothing. pictures: is there
    # one of what is written?
    def self.of_file(path, pictures: false)
      return "svg" if pictures && path.end_with?(".svg")

      EXTENSIONS.find { |ending, _| path.end_with?(ending) }&.last || "text"
    end
  end
end
