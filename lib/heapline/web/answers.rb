# frozen_string_literal: true

require "stringio"
require_relative "../accounting/format"
require_relative "../processes/process_list"
require_relative "../accounting/flight"
require_relative "../processes/ledger"
require_relative "../processes/memory_map"
require_relative "response"
require_relative "page"
require_relative "request"

module Heapline
  module Web
    # The answers to one request, by the names of Router::ACTIONS. Each is a Response or a Later.
    class Answers
      # What a path's ending may ask for, with its content type; what stands first is meant by "any".
      TYPES = { "txt" => Response::TEXT, "html" => Page::TYPE, "json" => "application/json",
                "csv" => "text/csv; charset=utf-8" }.freeze
      # Which formats they are.
      FORMATS = { "txt" => "text", "html" => "html", "json" => "json", "csv" => "csv" }.freeze
      # There is no terminal to fit to.
      SCREEN = { "COLUMNS" => "160", "LANG" => "C.UTF-8" }.freeze
      # Rows of text and pages unless the query says how many.
      ROWS = 50
      ALL = "?top=0" # of the query: all rows
      # Locations of each process that become series of their own.
      SERIES = 20
      SECONDS = (1..300)

      # processes: Processes; pid: of the process that is named, or nil; tree: with all that were forked from it.
      def initialize(processes, request, pid: nil, tree: false)
        @processes = processes
        @request = request
        @query = Query.new(request.params)
        @pid = pid
        @tree = tree
      end

      # The report as a page; without a process to speak of, the list of them.
      def index
        return processes if subject.nil?

        type(nil, TYPES) == "html" ? report : each
      end

      # The processes that may be looked at.
      def processes(format: nil)
        rows = @processes.rows
        list = Heapline::Processes::ProcessList.new(directory: @processes.place, env: SCREEN)
        case type(format, TYPES.except("csv"))
        when "html" then page(ProcessPage.render(rows, base: @request.base))
        when "json" then reply(TYPES["json"]) { |io| list.render_json(rows, io) }
        else reply(TYPES["txt"]) { |io| list.render(rows, io) }
        end
      end

      # The sites, or groups of them.
      def each(format: nil)
        ending = type(format, TYPES)
        @snapshot ||= take(wanted(ending))
        sites(snapshot, ending)
      end

      # The sites at one location, given as "app.rb:12". Some servers decode the path, some do not, and some make one
      # slash of two.
      def at(location:)
        plain = Request.decode(location)
        found = [location, plain, "/#{plain}"].lazy.map { |name| only(name.b) }.find { |one| one.sites.any? }
        raise Missing, "nothing is counted at #{Inert.text(plain)}" unless found

        sites(found, type(nil, TYPES))
      end

      # All processes of the tree, or of the user, or the one that is named.
      def metrics
        format = Format.fetch("prometheus")
        rows = Accounting::Flight::Wanted.new(:key, @query.column.figure, @query.top(SERIES), @query.min)
        alone = @processes.snapshot(@pid, wanted: rows) if @pid && !@tree
        snapshots = alone ? [alone] : @processes.running(@pid, wanted: rows)
        subjects = snapshots.map do |one|
          format::Subject.new(snapshot: one, memory: memory_of(one), ledger: known_ledger(one))
        end
        reply(format::CONTENT_TYPE) { |io| format.new(**figures(SERIES)).render_all(subjects, io) }
      end

      # What lives, as `go tool pprof` reads it.
      def heap
        pprof(take(Format.wanted("pprof")), "inuse_space")
      end

      # The same with what was allocated in front.
      def allocs
        pprof(take(Format.wanted("pprof")), "alloc_space")
      end

      # What happened in so many seconds.
      def delta_heap
        seconds = @query.seconds(SECONDS)
        before = snapshot
        Later.new(seconds) do
          after = take
          pprof((after - before).with(started_at: before.taken_at, ended_at: after.taken_at), "inuse_space")
        end
      end

      private

      # The pid that is meant, nil where that is open.
      def subject
        @pid || (@tree ? @processes.root : @processes.default)
      end

      def snapshot
        @snapshot ||= take
      end

      # What is enough for this ending; nil: all.
      def wanted(ending)
        rows = ending == "txt" ? ROWS : 0
        Format.wanted(FORMATS.fetch(ending), top: @query.top(rows), sort: @query.column.key, min: @query.min,
                                             by: @query.by)
      end

      # wanted: as for Processes#snapshot.
      def take(wanted = nil)
        pid = subject or raise UsageError, "which process? /PID in front of the path says it; /processes lists them"
        @tree ? @processes.tree(pid) : @processes.snapshot(pid, wanted: wanted)
      end

      def sites(snapshot, type)
        case type
        when "html" then page(SitePage.new(@query, base: base, rows: ROWS).render(snapshot))
        when "json" then json(snapshot)
        when "csv" then written(snapshot, "csv", figures(0).merge(by: @query.by))
        else written(snapshot, "txt", { top: @query.top(ROWS), sort: @query.column.key, min: @query.min,
                                        by: @query.by, memory: memory, ledger: ledger, all: ALL, env: SCREEN })
        end
      end

      # The page says by itself what it may load and run; who may frame it only a header can say.
      def report
        html = Format.fetch("html").new(memory: memory, ledger: ledger(drill: true), **figures(0))
        reply(Page::TYPE, policy: "frame-ancestors 'none'") { |io| html.render(snapshot, io) }
      end

      def json(snapshot)
        written(snapshot, "json", figures(0).merge(by: @query.by, memory: memory, ledger: ledger))
      end

      def figures(top)
        { top: @query.top(top), sort: @query.column.figure, min: @query.min }
      end

      def written(snapshot, ending, options)
        reply(TYPES.fetch(ending)) { |io| Format.fetch(FORMATS.fetch(ending)).new(**options).render(snapshot, io) }
      end

      def pprof(snapshot, default)
        format = Format.fetch("pprof").new(default: default)
        reply(Accounting::Pprof::CONTENT_TYPE) { |io| format.render(snapshot, io) }
      end

      def memory
        memory_of(snapshot) unless @tree
      end

      def memory_of(snapshot)
        Heapline::Processes::ProcessMemory.read(snapshot.pid) if snapshot.state == :running
      end

      def ledger(drill: false)
        Heapline::Processes::Ledger.read(snapshot, drill: drill) unless @tree
      end

      # Nil until the process has been asked for the figures of its object heap: asking it would be more than looking,
      # and a series that says 0 would be wrong.
      def known_ledger(snapshot)
        Heapline::Processes::Ledger.read(snapshot) if snapshot.figures&.objects_at
      end

      # What links to figures of the same process begin with.
      def base
        "#{@request.base}#{"/#{@pid}" if @pid}#{"/tree" if @tree}"
      end

      # The snapshot with what is at this location alone.
      def only(name)
        here = ->(site) { [site.location.to_s.b, site.location.name.b].include?(name) }
        objects = snapshot.objects
        snapshot.with(sites: snapshot.select(&here), objects: objects && Objects::Snapshot.new(objects.select(&here)))
      end

      # The ending that is meant: that of the path, or the best of what the header Accept lists, or the first.
      def type(ending, types)
        return accepted(types) unless ending
        return ending if types.key?(ending)

        raise Missing, "there is no .#{ending}, only .#{types.keys.join(", .")}"
      end

      def accepted(types)
        wanted = @request.accept.b.split(",").map { |range| range[/[^;\s]+/] }
        types.keys.find { |ending| wanted.include?(types[ending][/[^;]+/]) } || types.keys.first
      end

      def page(body)
        Response.of(body, type: Page::TYPE, policy: Page::POLICY)
      end

      def reply(type, **more)
        io = StringIO.new("".b)
        yield io
        Response.of(io.string, type: type, **more)
      end
    end
  end
end
