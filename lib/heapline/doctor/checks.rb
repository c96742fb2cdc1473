# frozen_string_literal: true

require_relative "../version"
require_relative "../accounting/run_options"
require_relative "../processes/memory_map"
require_relative "directory_check"
require_relative "probe"

module Heapline
  module Doctor
    # What was looked at: state is :ok, :note or :problem; a problem has a remedy.
    Finding = Struct.new(:name, :state, :text, :remedy, keyword_init: true)

    # All that doctor looks at, as Findings.
    class Checks
      KNOWN_RUBIES = ("3.1"..."4.2")
      ATTRIBUTION = { frames: "heapline reads Ruby's frames itself (fast)", none: "none: no Ruby was seen" }.freeze
      # Of what came of it: state, text, remedy.
      LAYOUTS = {
        known: [:ok, "Ruby's structs are those that heapline knows for this version"],
        found: [:ok, "Ruby's structs were not known, and heapline found their fields: %<found>s"],
        refused: [:note, "Ruby's structs are unknown, and their fields were not found: heapline does not read them",
                  "a newer heapline may know this Ruby; please report it with the output of heapline doctor"],
        unasked: [:note, "HEAPLINE=api: heapline does not read Ruby's structs", "without it lines cost less"],
        open: [:note, "Ruby's structs are not fully checked yet: the lines that ran so far do not show enough",
               "lines come through Ruby's public API until then"]
      }.freeze
      LEAST_FILE_SIZE = 64 * 1024 * 1024

      def initialize(env)
        @env = env
      end

      # In the order in which they are printed. Without the core and the extension the rest cannot be tried.
      def findings
        found = [ruby, version, core, extension]
        return found if found.any? { |finding| finding.state == :problem }

        @probe = Probe.new(@env)
        found + [preload, *counted, place, file_size, *surroundings].compact
      end

      private

      def ok(name, text)
        Finding.new(name: name, state: :ok, text: text)
      end

      def note(name, text, remedy = nil)
        Finding.new(name: name, state: :note, text: text, remedy: remedy)
      end

      def problem(name, text, remedy)
        Finding.new(name: name, state: :problem, text: text, remedy: remedy)
      end

      def ruby
        return ok("Ruby", RUBY_DESCRIPTION) if RUBY_ENGINE == "ruby" && known_ruby?

        note("Ruby", "#{RUBY_DESCRIPTION}: unknown to this heapline, which knows CRuby 3.1 to 4.1",
             "heapline finds its layout or does not read it: see layout and objects; a newer heapline may know it")
      end

      def known_ruby?
        KNOWN_RUBIES.cover?(RUBY_VERSION[/\A\d+\.\d+/])
      end

      def version
        ok("heapline", VERSION)
      end

      def core
        ok("core", Command::Installation.preloadable_core)
      rescue Error => e
        what, remedy = e.message.split("; ", 2)
        problem("core", what, remedy)
      end

      def extension
        require "heapline/native"
        ok("extension", $LOADED_FEATURES.find { |path| path.match?(%r{heapline/native\.\w+\z}) })
      rescue LoadError => e
        problem("extension", e.message.lines.first.chomp,
                "run `rake compile` in the checkout, or install the gem again")
      end

      def preload
        return ok("preload", "a small Ruby program ran under the core") if @probe.snapshot

        problem("preload", @probe.error,
                "run it by hand to see more: LD_PRELOAD=#{Command::Installation.core} ruby -e 1")
      end

      def counted
        return [] unless @probe.snapshot

        [ok("allocator", @probe.snapshot.allocator || "unknown"), path, layout, lines, jit, objects, failures].compact
      end

      def path
        way = @probe.snapshot.attribution
        return ok("lines", ATTRIBUTION[way]) if way == :frames

        note("lines", way == :public ? "heapline asks Ruby's public API (slower)" : ATTRIBUTION[way],
             "the next line says whether this Ruby's frames are unknown; else lines differed from Ruby's: see failures")
      end

      # Is what heapline's table says of Ruby's insides so?
      def layout
        found = @probe.snapshot.layout
        state, text, remedy = LAYOUTS.fetch(found[:outcome])
        elsewhere = found[:found].to_s.empty? ? "each as in the newest version that heapline knows" : found[:found]
        Finding.new(name: "layout", state: state, text: format(text, found: elsewhere) + proof(found), remedy: remedy)
      end

      def proof(found)
        return "" if found[:outcome] == :unasked

        verified = "; #{found[:lines]} lines were compared with what Ruby itself says, in " \
                   "#{found[:milliseconds].round(2)} ms of processor time"
        found[:missing].empty? ? verified : "#{verified}; not found, and not used: #{found[:missing]}"
      end

      def lines
        wrong = @probe.attribution.reject { |_, found| found }.keys
        return ok("attribution", "right in #{@probe.attribution.keys.join(", ")}") if wrong.empty?

        problem("attribution", "wrong in #{wrong.join(", ")}",
                "try heapline --public-api; please report it with the output of heapline doctor")
      end

      # The program enables it where that can be done.
      def jit
        return nil unless defined?(RubyVM::YJIT) && RubyVM::YJIT.respond_to?(:enable)
        return ok("JIT", "what it takes for itself has a row of its own") if @probe.jit_told?

        note("JIT", "what it takes for itself counts for the lines that run meanwhile",
             "this Ruby's C code calls malloc as Rust's does: compile it without -fno-plt")
      end

      # The program was run with them.
      def objects
        known = @probe.snapshot.objects
        if known
          return ok("objects",
                    "Ruby objects can be counted: heapline --objects#{" (on: HEAPLINE has it)" if on?}")
        end

        note("objects", "Ruby objects cannot be counted here: #{@probe.said || "they were not"}",
             "malloc is counted; heap dumps show objects")
      end

      def on?
        Accounting::RunOptions.from_env(@env["HEAPLINE"])[:objects]
      rescue UsageError
        false
      end

      def failures
        return nil if @probe.snapshot.failures.empty?

        note("failures", @probe.snapshot.failures.map { |name, count| "#{name} #{count}" }.join(", "))
      end

      def place
        DirectoryCheck.new(@env).finding
      end

      def file_size
        limit = Process.getrlimit(:FSIZE).first
        return nil if limit == Process::RLIM_INFINITY || limit >= LEAST_FILE_SIZE

        problem("ulimit -f", "files may have #{limit} bytes only: counts would not outlive the process",
                "raise it: ulimit -f unlimited")
      end

      def surroundings
        [environment, preloaded, memory, seccomp]
      end

      def environment
        Accounting::RunOptions.from_env(@env["HEAPLINE"])
        nil
      rescue UsageError => e
        problem("environment", e.message, "unset HEAPLINE, or correct it")
      end

      def preloaded
        already = @env["LD_PRELOAD"].to_s
        note("LD_PRELOAD", "names #{already} already; heapline goes before it and keeps it") unless already.empty?
      end

      # A reader needs no more than this of another process of its user.
      def memory
        return nil if Processes::ProcessMemory.read(Process.pid)

        problem("RSS", "/proc/PID/smaps_rollup cannot be read", "mount /proc; a kernel before 4.14 does not have it")
      end

      def seccomp
        mode = File.read("/proc/self/status")[/^Seccomp:\s+(\d)/, 1].to_i
        note("seccomp", "a filter is active (a container?): the lines above show what it forbids") if mode == 2
      rescue SystemCallError
        nil
      end
    end
  end
end
