# frozen_string_literal: true

require_relative "snapshot"
require_relative "../figures/site_figures"
require_relative "../objects/object_figures"
require_relative "../version"
require_relative "../terminal/inert"
require_relative "../table/selection"

module Heapline
  module Accounting
    # Processes in Prometheus's text format, version 0.0.4: totals of each, and the figures of its largest sites. Sites
    # are bounded, since each makes series of its own that the server keeps. OpenMetrics is OpenMetrics' (its
    # counters are declared in another way).
    class Prometheus
      CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

      # What is told of one process. memory: Processes::ProcessMemory or nil; ledger: Processes::Ledger or nil.
      Subject = Struct.new(:snapshot, :memory, :ledger, keyword_init: true)

      # name without prefix, unit and _total; unit (nil: a number of things); help; value: Proc of a Subject, or figure
      # of Site
      Metric = Struct.new(:name, :type, :unit, :help, :value) do
        def self.of(figure, value, name: figure.metric.last, help: figure.help)
          new(name, figure.metric.first, ("bytes" if figure.unit == :bytes), "#{help}.", value)
        end

        # Those of the largest sites, or classes.
        def self.largest(figures, whose)
          figures.select(&:largest).map do |figure|
            of(figure, figure.figure, name: figure.largest, help: "#{figure.help}: the largest #{whose}")
          end.freeze
        end

        # heapline_live_bytes: the family's name; counters' samples add _total.
        def family
          ["heapline", name, unit].compact.join("_")
        end

        def sample
          type == :counter ? "#{family}_total" : family
        end
      end

      def self.total(figure)
        ->(subject) { subject.snapshot.public_send(figure) }
      end

      def self.memory(figure)
        ->(subject) { subject.memory&.public_send(figure) }
      end
      private_class_method :total, :memory

      PROCESS = [
        Metric.new("start_time", :gauge, "seconds", "When the process began, in seconds since 1970.",
                   ->(subject) { subject.snapshot.started_at&.to_f }),
        Metric.new("rss", :gauge, "bytes", "Resident memory of the process.", memory(:rss_bytes)),
        Metric.new("pss", :gauge, "bytes", "Resident memory, shared pages divided among their users.",
                   memory(:pss_bytes)),
        Metric.new("swap", :gauge, "bytes", "Memory of the process that is swapped out.", memory(:swap_bytes)),
        Metric.new("peak_live", :gauge, "bytes", "The most bytes that were live at a time.", total(:peak_bytes)),
        Metric.new("own", :gauge, "bytes", "What heapline took for caches and tables, without the flight file; a " \
                                           "part of all that it has resident.", total(:own_bytes)),
        Metric.new("gcs", :counter, nil, "Runs of Ruby's garbage collector.", total(:gc_count)),
        *Figures::SiteFigures::ALL.select(&:metric).map { |figure| Metric.of(figure, total(figure.figure)) }
      ].freeze
      INFO = Metric.new("process_info", :gauge, nil, "What runs in the process; the value is always 1.")
      FAILURES = Metric.new("failures", :counter, nil, "Problems while counting, by kind; see the report.")
      LEDGER = Metric.new("ledger", :gauge, "bytes", "Resident memory by what it is used for; the lines add up to it.")
      SITES = Metric.largest(Figures::SiteFigures::ALL, "sites")
      # Of Ruby objects, where they are accounted; value: figure of Objects::Snapshot, and of ObjectSite.
      OBJECTS = Objects::ObjectFigures::ALL.select(&:metric).map { |figure| Metric.of(figure, figure.figure) }.freeze
      CLASSES = Metric.largest(Objects::ObjectFigures::ALL, "classes")
      ESCAPES = { "\\" => "\\\\", '"' => '\"', "\n" => "\\n" }.freeze

      # top: sites a process (0: all; then the server has to bear them), the largest `sort` first; min: least live or
      # growth bytes of a site. memory, ledger: of the one process that `render` gets.
      def initialize(top: 20, sort: :growth_bytes, min: 0, memory: nil, ledger: nil)
        @selection = Table::Selection.new(top: top, sort: sort, min: min)
        @memory = memory
        @ledger = ledger
      end

      # Write the metrics of one process to `io`.
      def render(snapshot, io)
        render_all([Subject.new(snapshot: snapshot, memory: @memory, ledger: @ledger)], io)
      end

      # Write the metrics of several processes (Array of Subject, no two with the same pid): the label pid tells them
      # apart.
      def render_all(subjects, io)
        family(io, INFO, subjects.map { |subject| [info(subject), 1] })
        PROCESS.each do |metric|
          family(io, metric, subjects.map { |subject| [pid(subject), metric.value.call(subject)] })
        end
        family(io, FAILURES, subjects.flat_map { |subject| named(subject, :failure, subject.snapshot.failures) })
        family(io, LEDGER, subjects.flat_map { |subject| named(subject, :line, subject.ledger.to_h) })
        sites(io, subjects)
        objects(io, subjects.select { |subject| subject.snapshot.objects })
        finish(io)
      end

      private

      # The declaration of a metric and its samples ([labels, value]); nothing where no value is known.
      def family(io, metric, samples)
        known = samples.select(&:last)
        return if known.empty?

        declare(io, metric)
        known.each { |labels, value| io.write("#{metric.sample}#{braced(labels)} #{value}\n") }
      end

      def declare(io, metric)
        io.write("# HELP #{metric.sample} #{metric.help}\n# TYPE #{metric.sample} #{metric.type}\n")
      end

      def finish(_io); end

      def sites(io, subjects)
        chosen = subjects.flat_map { |subject| largest(subject) }
        SITES.each { |metric| family(io, metric, chosen.map { |labels, site| [labels, site[metric.value]] }) }
      end

      def objects(io, subjects)
        OBJECTS.each do |metric|
          family(io, metric, subjects.map do |subject|
            [pid(subject), subject.snapshot.objects.public_send(metric.value)]
          end)
        end
        chosen = subjects.flat_map { |subject| classes(subject) }
        CLASSES.each do |metric|
          family(io, metric, chosen.map { |labels, site| [labels, site.public_send(metric.value)] })
        end
      end

      # [labels, Site] of the process's largest sites.
      def largest(subject)
        series(@selection.of(subject.snapshot.by_key.values)) { |site| labels(subject, site) }
      end

      # [labels, ObjectSite] of its largest classes.
      def classes(subject)
        series(@selection.of(subject.snapshot.objects.sums(:class))) do |site|
          pid(subject).merge(class: text(site.location.to_s))
        end
      end

      # Names that look the same once they are inert are one series: one that comes twice makes the server refuse the
      # whole page.
      def series(sites, &)
        sites.group_by(&).map do |labels, same|
          [labels, same.size == 1 ? same.first : same.first.class.sum(same, location: same.first.location)]
        end
      end

      def labels(subject, site)
        place = site.location
        unnamed = Snapshot::UNNAMED
        pid(subject).merge(location: text(place.to_s), label: text(place.label),
                           gem: text(place.gem || unnamed[:gem]), library: text(place.library || unnamed[:library]),
                           tag: text(site.tag))
      end

      def pid(subject)
        { pid: subject.snapshot.pid.to_s }
      end

      def info(subject)
        snapshot = subject.snapshot
        pid(subject).merge(command: text(snapshot.command&.join(" ")), ruby: text(snapshot.ruby),
                           allocator: text(snapshot.allocator), state: snapshot.state.to_s, heapline: VERSION)
      end

      def named(subject, label, figures)
        figures.map { |name, value| [pid(subject).merge(label => name.to_s), value] }
      end

      def braced(labels)
        "{#{labels.map { |name, value| "#{name}=\"#{value}\"" }.join(",")}}"
      end

      def text(value)
        value ? Inert.text(value).gsub(/[\\"\n]/, ESCAPES) : ""
      end
    end

    # The same metrics as OpenMetrics text 1.0 (https://github.com/prometheus/OpenMetrics): counters are declared
    # without _total, units have a line, and the end is marked.
    class OpenMetrics < Prometheus
      CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

      private

      def declare(io, metric)
        io.write("# TYPE #{metric.family} #{metric.type}\n")
        io.write("# UNIT #{metric.family} #{metric.unit}\n") if metric.unit
        io.write("# HELP #{metric.family} #{metric.help}\n")
      end

      def finish(io)
        io.write("# EOF\n")
      end
    end
  end
end
