# frozen_string_literal: true

require "shellwords"
require_relative "../terminal/inert"
require_relative "../figures/units"

module Heapline
  module Testing
    # What a check that failed says: what, how much, at which line, and the command that shows more. Plain text without
    # colours: the test framework prints it among its own.
    module CheckText
      # How many findings are shown.
      SHOWN = 5
      # How many C functions of a lost block.
      FRAMES = 4

      class << self
        # Testing::BlockGrowth that has grown.
        def growth(growth)
          first = growth.findings.first
          shown = growth.findings.first(SHOWN)
          ["memory grew with each run of the block, through the last #{Units.count(first.iterations)} of " \
           "#{Units.count(growth.iterations)} runs:",
           *shown.flat_map { |finding| finding.kind == :objects ? objects(finding) : memory(finding) },
           *more(growth.findings.size - SHOWN, "line"),
           *next_step("heapline --sort retained --gc #{command}", "all that stays behind, by line"),
           *native_step(shown)].join("\n")
        end

        # Leaks::Findings with lost blocks.
        def leaks(leaks)
          lost = leaks.select(&:lost?)
          ["the block lost #{Units.bytes(leaks.lost_bytes)} in #{blocks(leaks.lost_blocks)}:",
           *lost.first(SHOWN).flat_map { |record| loss(record) },
           *more(lost.size - SHOWN, "record"),
           *next_step("heapline leaks #{command}", "all that is lost at the end")].join("\n")
        end

        # Testing::BlockMemory beyond a limit in bytes.
        def memory_over(memory, limit)
          ["the block needed #{Units.bytes(memory.bytes)} at most, more than #{Units.bytes(limit)}:",
           "  #{Units.bytes(memory.malloc_bytes)} of malloc, #{Units.bytes(memory.object_bytes)} of Ruby's object heap",
           *next_step("heapline #{command}", "by which lines")].join("\n")
        end

        # Testing::BlockAllocations beyond a limit.
        def allocations_over(allocations, limit)
          what = allocations.kind == :objects ? "Ruby objects" : "blocks of malloc"
          lines = allocations.lines.map do |place, kind, number|
            "  #{Units.count(number)}  #{text(place)}  #{text(kind)}".rstrip
          end
          [
            "the block allocated #{Units.count(allocations.number)} #{what}, more than #{Units.count(limit)}:", *lines
          ]
            .join("\n")
        end

        # This program's own command line, as it can be typed.
        def command
          words = Accounting::FlightHeader.started_as(Native.read_header(Native.flight_fd)) if Heapline.enabled?
          words ||= ["ruby", $PROGRAM_NAME, *ARGV]
          words.map { |word| Shellwords.escape(Inert.text(word)) }.join(" ")
        end

        private

        # That so many more of them are not shown.
        def more(count, noun)
          count.positive? ? ["  and #{count} #{noun}#{"s" if count > 1} more"] : []
        end

        # A Leaks::LossRecord: where, and the C functions that asked for it.
        def loss(record)
          ["  #{Units.bytes(record.bytes)} in #{blocks(record.blocks)}, lost (#{record.kind})",
           "    #{place(record.location)}", *frames(record.frames)]
        end

        # Behind the last frame that is not the VM's there is nothing to learn.
        def frames(frames)
          own = frames.rindex { |frame| !frame.system? } || frames.size
          frames.first([own + 1, FRAMES].min).map do |frame|
            "      #{[frame.name, frame.place].uniq.map { |name| text(name) }.join("  ")}"
          end
        end

        def blocks(number)
          "#{Units.count(number)} block#{"s" unless number == 1}"
        end

        def memory(finding)
          blocks = "#{rate(finding.blocks)} block#{"s" unless finding.blocks == 1}"
          ["  #{amount(finding)} · #{blocks} · #{Units.bytes(finding.rise)} in all",
           "    #{place(finding.location)}", *frames(finding.frames)]
        end

        # Where C code asked for it.
        def native_step(findings)
          return [] unless findings.any? { |finding| finding.location&.library }

          ["        heapline leaks #{command}   what of it is lost, by which C functions"]
        end

        # "+4.0 B a run (99.99 % interval 4.0 to 4.1)"
        def amount(finding)
          "+#{size(finding.slope)} a run (99.99 % interval #{size(finding.low)} to #{size(finding.high)})"
        end

        def size(bytes)
          bytes.abs < 1000 ? "#{rate(bytes)} B" : Units.bytes(bytes.round)
        end

        def rate(number)
          format("%.3g", number).then { |text| text.include?("e") ? number.round.to_s : text }
        end

        def place(location)
          [text(location.name), location.label && text(location.label), location.gem && "(#{text(location.gem)})"]
            .compact.join("  ")
        end

        def objects(finding)
          lines = finding.lines.map do |line|
            "    #{Units.count(line.number)} #{text(line.class_name)}  #{text(line.location)}"
          end
          ["  +#{rate(finding.slope)} Ruby objects a run (99.99 % interval #{rate(finding.low)} to " \
           "#{rate(finding.high)}) · #{Units.count(finding.rise)} in all", *lines]
        end

        def next_step(command, why)
          ["  next  #{command}   #{why}"]
        end

        def text(name)
          Inert.text(name)
        end
      end
    end
  end
end
