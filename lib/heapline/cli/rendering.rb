# frozen_string_literal: true

require_relative "../format"
require_relative "../format/columns"

module Heapline
  module CLI
    # From what was asked on the command line to a format that is ready to render.
    module Rendering
      # What the reader asked for must have an effect, or be an error.
      ASKED = { by: "--by", objects: "--objects", growth: "--log" }.freeze
      # Formats that show a Model::Comparison itself: file and class.
      COMPARISONS = { "text" => %i[comparison_text ComparisonText],
                      "json" => %i[comparison_json ComparisonJson] }.freeze
      # And a Model::GrowthComparison.
      RATES = { "text" => %i[growth_comparison_text GrowthComparisonText],
                "json" => %i[growth_comparison_json GrowthComparisonJson] }.freeze

      # The format of this name. options: what a format may want to know (top, sort as a key of Columns, min, by,
      # memory, directory, more, env …); each gets what it takes.
      def self.format(name, **options)
        options[:sort] = Format::Columns.fetch(options[:sort]).figure if options[:sort] && name != "text"
        made(Format.fetch(name), name, options)
      end

      # The format of this name for a Model::Comparison; sort is a key of ComparisonColumns. nil where there is none:
      # then it can show the Comparison's difference.
      def self.comparison(name, **options)
        listed(COMPARISONS[name], name, options)
      end

      # The format of this name for a Model::GrowthComparison; nil where there is none.
      def self.rates(name, **options)
        listed(RATES[name], name, options)
      end

      def self.listed(entry, name, options)
        return nil unless entry

        file, type = entry
        require_relative "../format/#{file}"
        made(Format.const_get(type), name, options)
      end

      def self.made(type, name, options)
        known = type.instance_method(:initialize).parameters.map(&:last)
        ASKED.each do |option, switch|
          raise UsageError, "#{name} has no #{switch}" if options[option] && !known.include?(option)
        end
        type.new(**options.slice(*known))
      end
      private_class_method :made, :listed

      # Render to standard output; bytes that are no text not to a terminal.
      def self.show(format, snapshot, out)
        if format.class.const_defined?(:BINARY)
          raise UsageError, "this format is not for a terminal: give -o FILE, or a pipe" if out.tty?

          out.binmode
        end
        format.render(snapshot, out)
      end
    end
  end
end
