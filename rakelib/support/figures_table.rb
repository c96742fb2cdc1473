# frozen_string_literal: true

module Tasks
  # The tables of figures in docs/formats.md, between their marks, as SiteFigures and ObjectFigures declare them.
  module FiguresTable
    PAGE = "docs/formats.md"
    MARKS = /(?<=<!-- figures: begin -->\n).*(?=<!-- figures: end -->)/m
    HEAD = ["JSON, CSV", "`--sort`", "unit", "growth log", "Prometheus", "pprof", "what it is"].freeze

    # Their lines (Array of String).
    def self.lines
      require File.join(ROOT, "lib/heapline/accounting/prometheus")
      [*table(Heapline::Figures::SiteFigures::ALL), "", "Of Ruby objects, where they are counted:", "",
       *table(Heapline::Objects::ObjectFigures::ALL)]
    end

    def self.table(figures)
      rows = figures.map { |figure| cells(figure) }
      [HEAD, HEAD.map { "---" }, *rows].map { |cells| "| #{cells.join(" | ")} |" }
    end

    # Write the page anew.
    def self.write(path = File.join(ROOT, PAGE))
      File.write(path, File.read(path, encoding: "UTF-8").sub(MARKS) { lines.map { |line| "#{line}\n" }.join })
    end

    def self.cells(figure)
      [code(figure.data), code(figure.key), figure.unit, figure.log&.join(", "), metric(figure), code(figure.sample),
       figure.help]
    end

    def self.metric(figure)
      return unless figure.metric

      "#{code(Heapline::Accounting::Prometheus::Metric.of(figure, nil).sample)}#{" \\*" if figure.largest}"
    end

    def self.code(text)
      text && "`#{text}`"
    end
    private_class_method :table, :cells, :metric, :code
  end
end
