# frozen_string_literal: true

require "shellwords"
require_relative "../figures/units"

module Heapline
  module Command
    # The commands that show more, as they can be typed: an Array of [command, why].
    module NextSteps
      # The same as lines without line ends, below a report for people.
      def self.lines(steps, terminal)
        width = steps.map { |command, _| terminal.inert(command).length }.max
        steps.each_with_index.map do |(command, why), i|
          "  #{i.zero? ? terminal.style("next", :bold) : "    "}  #{terminal.inert(command).ljust(width)}   #{why}"
        end
      end

      # What accounts any program, where a command (its words behind `heapline NAME`) found no Ruby: behind a message.
      def self.any(name, words)
        "for any program: #{Shellwords.join(["heapline", name, "--any", *words])}"
      end

      # After the report of a process or file that was named `source`. ledger: Processes::Ledger, or nil.
      def self.for_report(snapshot, source, shown, ledger: nil)
        word = Shellwords.escape(source)
        word = "--merge #{word}" if snapshot.merged
        steps = []
        steps << grouped(snapshot, word) unless shown[:by]
        steps << ["heapline report #{word}", "which line?"] if shown[:by]
        steps << ["heapline report #{word} --by class", "which objects?"] if snapshot.objects && shown[:by] != :class
        steps.concat(for_running(snapshot, ledger)) if snapshot.state == :running
        steps << ["heapline ps --clean", "remove the files of dead processes"] if snapshot.state == :killed
        steps
      end

      # From this part of RSS on it is said how much malloc holds of what was freed.
      HELD = 0.15
      # The first rows are looked at for what native code keeps, from this part of what lives on.
      ROWS = 5
      NATIVE = 0.02

      # What the figures of a process that runs ask for.
      def self.for_running(snapshot, ledger)
        steps = [rss(snapshot, ledger)]
        return steps.push(["heapline attach #{snapshot.pid}", "count it again"]) if snapshot.stopped_at

        steps.concat(growth(snapshot), lost(snapshot, snapshot.pid, " (with --blocks)"))
      end

      def self.rss(snapshot, ledger)
        held = ledger ? ledger[:malloc_held].bytes : 0
        why = if ledger && held > ledger.rss_bytes * HELD
                "#{Units.bytes(held)} are freed and still held: where, and why?"
              else
                "what else is in RSS?"
              end
        ["heapline rss #{snapshot.pid}", why]
      end

      # Growth since the start tells little: what the program needs is in it.
      def self.growth(snapshot)
        pid = snapshot.pid
        return growth_of_all(pid) if snapshot.merged
        return [["heapline baseline #{pid}", "count growth from now on"]] unless snapshot.baseline_kind == :clear
        return [] unless snapshot.growth_bytes.positive?

        [["heapline log -o #{pid}.jsonl #{pid}", "does it go on growing? Then:"],
         ["heapline growth #{pid}.jsonl", "a leak, or a cache that fills?"]]
      end

      # A baseline is one process's.
      def self.growth_of_all(pid)
        [["heapline report --merge #{pid} -o 1.json", "and later once more, -o 2.json; then:"],
         ["heapline diff 1.json 2.json", "what has grown meanwhile, in all of them?"]]
      end

      def self.lost(snapshot, word, needs = "")
        library = native(snapshot)
        library ? [["heapline leaks #{word}", "has #{library} lost any of its blocks?#{needs}"]] : []
      end

      # The library that called malloc for one of the first rows, where that is neither Ruby nor the system's.
      def self.native(snapshot)
        return unless snapshot.ruby?

        rows = snapshot.top(ROWS).select { |site| site.growth_bytes > snapshot.live_bytes * NATIVE }
        rows.filter_map { |site| site.location.library unless site.location.stage }.first
      end

      # After the report of a capture. objects: was it of Ruby objects?
      def self.for_capture(path, objects: false)
        word = Shellwords.escape(path)
        return for_objects(word) if objects

        page = Shellwords.escape("#{File.basename(path, ".hlc")}.html")
        [["heapline report #{word} --call-tree", "which call paths led to the peak?"],
         ["heapline report #{word} --by line --metric temporary", "which lines make garbage?"],
         ["heapline report #{word} --timeline", "when?"],
         ["heapline report #{word} -o #{page}", "an interactive page"],
         ["heapline replay #{word}", "would another allocator help?"]]
      end

      # The same of the objects in it.
      def self.for_objects(word)
        [["heapline report #{word} --objects --call-tree", "which call paths led to the peak?"],
         ["heapline report #{word} --by class --metric temporary", "which classes are mostly garbage?"],
         ["heapline report #{word} --class String --by line", "which lines make them?"],
         ["heapline report #{word}", "the same of malloc's blocks"]]
      end

      # After the compiled code of a process or dump that was named `source`. copy: address of code that is a copy, or
      # nil. running: is it a PID? growth: were two moments compared?
      def self.for_code(source, copy, running:, growth:)
        word = Shellwords.escape(source)
        steps = running && !growth ? [["heapline code #{word} --after 60", "what grows?"]] : []
        return steps unless copy

        file = running ? "#{word}.json" : word
        steps << ["heapline heap dump #{word} -o #{file}", "all objects; then:"] if running
        steps << ["heapline heap find #{file} #{format("0x%x", copy)} --path", "what holds a copy?"]
      end

      # After the exit report: the process and, unless it was kept, its flight file are gone.
      def self.for_exit(snapshot, options)
        return [grouped(snapshot, snapshot.pid)] if options[:keep]

        command = snapshot.command.map { |word| Shellwords.escape(word) }.join(" ")
        any = snapshot.ruby? ? "" : "--any "
        steps = [["heapline -o run.heapline #{any}#{command}", "keep the counts"], grouped(snapshot, "run.heapline")]
        # What came after the last GC is live until the next one, and may fill the first rows.
        steps.push(["heapline --gc #{command}", "what stays after a full GC?"]) if snapshot.ruby? && !options[:gc]
        steps.concat(lost(snapshot, command))
      end

      def self.grouped(snapshot, word)
        group = snapshot.ruby? ? "gem" : "library"
        ["heapline report #{word} --by #{group}", "which #{group}?"]
      end
      private_class_method :grouped, :for_running, :rss, :growth, :growth_of_all, :lost, :native
    end
  end
end
