# frozen_string_literal: true

require "open3"

module Bench
  # A way to run a program: plain, or under one of the tools that are compared. `preload` and `command` are pairs of
  # environment and argv prefix: see Workload on when each is used; without a command the tool measures no starts.
  # `evidence` is Ruby that says in a process whether the tool works there.
  Tool = Struct.new(:name, :version, :preload, :command, :evidence, keyword_init: true) do
    # [environment, argv] of `argv` under this tool.
    def wrap(argv, through)
      environment, prefix = through == :command ? command : preload
      [environment, prefix + argv]
    end

    # Tools that trace objects, and those that do not, have workloads of their own.
    def measures?(workload)
      return Tool::KNOWN.include?(name) if workload.known?
      return (Tool::OBJECTS + Tool::ALWAYS).include?(name) if workload.objects?

      !Tool::OBJECTS.include?(name) && (!workload.start? || !command.nil?)
    end
  end

  # Which of them trace Ruby objects, which are measured beside those, and which on programs that people know.
  class Tool
    OBJECTS = %w[objects allocation_tracing memory_profiler record_objects].freeze
    ALWAYS = %w[plain heapline].freeze
    KNOWN = [*ALWAYS, "least"].freeze
  end

  # Finds the tools that this machine has for one Ruby. A finder answers a Tool, or a String that says why there is
  # none.
  class Tools
    ROOT = File.expand_path("../..", __dir__)
    # Measured only where they are asked for.
    ALSO = %w[record_native record_objects].freeze
    NAMES = ["plain", "heapline", "least", "blocks", "watched", "record", "mwrap", "heaptrack",
             *(Tool::OBJECTS - ALSO)].freeze
    TRACERS = File.join(ROOT, "bench/harness/tracers")
    WATCH = File.join(ROOT, "bench/harness/watch.rb")
    CAPTURE = File.join(ROOT, "lib/heapline/capture.so")
    COUNTS = '(require "bundler/setup"; require "fiddle"; ' \
             'Fiddle::Function.new(Fiddle.dlopen(nil)["heapline_enabled"], [], 4).call == 1)'

    def initialize(interpreter, equipment, scratch:, core: File.join(ROOT, "lib/heapline/libheapline.so"))
      @interpreter = interpreter
      @equipment = equipment
      @scratch = scratch
      @core = core
    end

    # Array of Tool; raises Equipment::Missing where one is absent.
    def all(names)
      present, absent = find(names)
      raise Equipment::Missing, absent.map { |name, why| "#{name}: #{why}" }.join("; ") unless absent.empty?

      present
    end

    # [Array of Tool, Hash of name to the reason why it is absent]
    def find(names = NAMES)
      found = names.to_h { |name| [name, proven(send(name))] }
      absent, present = found.partition { |_, tool| tool.is_a?(String) }
      [present.map(&:last), absent.to_h]
    end

    private

    # A library that the loader ignored, or a tool that stayed inert, would measure as free of cost.
    def proven(tool)
      return tool if tool.is_a?(String)

      environment, argv = tool.wrap(@interpreter.command("-e", "exit(#{tool.evidence})"), :preload)
      _, status = Open3.capture2e(@equipment.environment.merge(environment), *argv)
      status.success? ? tool : "does not work in this Ruby"
    end

    def plain
      Tool.new(name: "plain", version: "", preload: [{}, []], command: [{}, []], evidence: "true")
    end

    # Preloaded directly for the time of a running program; `heapline CMD` first starts a Ruby of its own, which would
    # be a constant in every row. HEAPLINE=quiet: the report at exit is not what is measured.
    def heapline
      return "not built: run rake compile" unless File.exist?(@core)

      preload = [{ "LD_PRELOAD" => @core, "HEAPLINE" => "quiet" }, []]
      Tool.new(name: "heapline", version: own_version, preload: preload, command: typed, evidence: COUNTS)
    end

    # `heapline --quiet CMD` with the first Ruby of the PATH; the first line of exe/heapline says how it starts.
    def typed
      path = [File.dirname(@interpreter.path), ENV.fetch("PATH")].join(File::PATH_SEPARATOR)
      [{ "PATH" => path }, [File.join(ROOT, "exe/heapline"), "--quiet"]]
    end

    # The least that marking and counting each block costs: bench/workloads/native/least.c.
    def least
      library = @equipment.library("least")
      Tool.new(name: "least", version: "", preload: [{ "LD_PRELOAD" => library }, []], evidence: mapped("least.so"))
    end

    # heapline with HEAPLINE=blocks: each live block findable, with its native stack.
    def blocks
      tool = heapline
      return tool if tool.is_a?(String)

      environment, prefix = tool.preload
      preload = [environment.merge("HEAPLINE" => "quiet,blocks"), prefix]
      Tool.new(name: "blocks", version: tool.version, preload: preload, evidence: COUNTS)
    end

    # heapline, and beside the program what an operator lets run: a growth log and a ledger every second, and
    # `heapline top` on a terminal. The watcher is nobody's child, so that the program's own waits do not find it.
    def watched
      tool = heapline
      return tool if tool.is_a?(String)

      environment, = tool.preload
      watch = '(env -u LD_PRELOAD "$0" "$1" $$ "$2" >/dev/null 2>&1 &); shift 2; exec "$@"'
      prefix = ["sh", "-c", watch, RbConfig.ruby, WATCH, @scratch]
      Tool.new(name: "watched", version: tool.version, preload: [environment, prefix], evidence: COUNTS)
    end

    # Through its command, which writes the capture beside the program and is in the times, as with heaptrack.
    def record(*options, name: "record")
      return "not built: run rake compile" unless File.exist?(@core) && File.exist?(CAPTURE)

      file = File.join(@scratch, "recorded.hlc")
      preload = [{}, [@interpreter.path, File.join(ROOT, "exe/heapline"), "record", "-o", file, *options]]
      Tool.new(name: name, version: own_version, preload: preload, evidence: COUNTS)
    end

    def record_native
      record("--native", name: "record_native")
    end

    def record_objects
      record("--objects", name: "record_objects")
    end

    # heapline with accounting of Ruby objects.
    def objects
      tool = heapline
      return tool if tool.is_a?(String)

      environment, prefix = tool.preload
      Tool.new(name: "objects", version: tool.version, evidence: COUNTS,
               preload: [environment.merge("HEAPLINE" => "quiet,objects"), prefix])
    end

    def allocation_tracing
      traced("allocation_tracing", "", "!ObjectSpace.allocation_sourceline(Object.new).nil?")
    end

    def memory_profiler
      directory = @equipment.gem_directory("memory_profiler")
      return "not in the bundle of this Ruby" unless directory

      traced("profile_memory", directory[/memory_profiler-([\d.]+)/, 1], "!defined?(MemoryProfiler).nil?",
             name: "memory_profiler")
    end

    # A library that the program requires first.
    def traced(file, version, evidence, name: file)
      Tool.new(name: name, version: version, evidence: evidence,
               preload: [{ "RUBYOPT" => "-r#{File.join(TRACERS, file)}" }, []])
    end

    def own_version
      File.read(File.join(ROOT, "lib/heapline/version.rb"))[/VERSION = "(.*)"/, 1]
    end

    def mwrap
      directory = @equipment.gem_directory("mwrap")
      library = directory && Dir[File.join(directory, "{lib,ext/mwrap}/mwrap.so")].first
      return "not in the bundle of this Ruby" unless library

      preload = [{ "LD_PRELOAD" => library }, []]
      command = [{}, [@interpreter.path, "-rbundler/setup", File.join(directory, "bin/mwrap")]]
      Tool.new(name: "mwrap", version: directory[/mwrap-([\d.]+)/, 1], preload: preload, command: command,
               evidence: mapped("mwrap.so"))
    end

    def mapped(library)
      "File.read(\"/proc/self/maps\").include?(#{library.inspect})"
    end

    # Only its command: that sets up the process which takes the events from the preloaded library. `-o` keeps its
    # record, which is gigabytes for some workloads, where the harness removes it.
    def heaptrack
      out, = Open3.capture2e("heaptrack", "--version")
      ways = [{}, ["heaptrack", "-o", File.join(@scratch, "heaptrack")]]
      Tool.new(name: "heaptrack", version: out[/[\d.]+/], preload: ways, command: ways,
               evidence: mapped("libheaptrack_preload.so"))
    rescue Errno::ENOENT
      "not installed"
    end
  end
end
