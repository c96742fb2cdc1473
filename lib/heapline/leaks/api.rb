# frozen_string_literal: true

require "io/nonblock"
require_relative "../files/output_file"
require_relative "../places/symbols"
require_relative "reader"
require_relative "suppressions"

# Lost blocks of this process.
module Heapline
  class << self
    # Look for blocks that nothing leads to any more: after a full GC, in a copy of the process; the other threads go
    # on.
    # Leaks::Findings: Enumerable of Leaks::LossRecord. Needs HEAPLINE=blocks (or `heapline leaks …`).
    #
    #   leaks = Heapline.leaks(library: /my_extension/)
    #   leaks.lost?                     # => true
    #   leaks.first.frames.first.name   # => "parse_header"
    #
    # since::         only blocks born in this generation (Integer, as Heapline::Native.generation counts) or later;
    #                 :baseline: since the last `clear`
    # library::       Regexp or String: only records whose native stack passes through such a library
    # reachable::     true: records of reachable blocks too
    # all::           true: also what the VM and the system's libraries asked for themselves
    # suppressions::  paths of suppression files
    #
    # Raises NotEnabled where this process keeps no blocks, SystemCallError where it cannot be copied.
    def leaks(since: 0, library: nil, reachable: false, all: false, suppressions: [])
      rules = Leaks::Rules.new(library: library && Regexp.new(library), all: all,
                               suppressions: Leaks::Suppressions.read([Leaks::Suppressions::SHIPPED, *suppressions]))
      since = Native.read_header(Native.flight_fd)[:baseline_generation] if since == :baseline
      reader = Leaks::Reader.new(rules: rules, symbols: Leaks.symbols)
      quiet { reader.read(Leaks.search(since, reachable), "the search") }
    end
  end

  # Looking for lost blocks, and reading what was found.
  # @api private
  module Leaks
    # The input and the output that a program gets as descriptors become its standard ones. It asks no servers for debug
    # information (Places::Symbols::ENVIRONMENT).
    SHELL = ["/bin/sh", "-c", 'unset DEBUGINFOD_URLS; exec "$0" "$@" <&3 >&4 3<&- 4>&- 2>/dev/null'].freeze
    private_constant :SHELL

    class << self
      # The report of a search in this process (String).
      def search(since, reachable)
        Files::OutputFile.read_back { |file| Native.leaks(file.fileno, since, reachable) }
      end

      # Names for the C functions of this process (Places::Symbols).
      def symbols
        Places::Symbols.new(run: method(:output_beside))
      end

      # What a program writes when it reads `input` (Strings). It runs beside this process, as the core starts its own:
      # no child of ours, no SIGCHLD. words: its path and arguments, few and short. `input` must fit into a pipe.
      def output_beside(words, input)
        reader, program_out = IO.pipe
        program_in, writer = IO.pipe
        [program_in, program_out].each { |io| io.nonblock = false } # as programs expect it
        Native.companion([*SHELL, *words].join("\x1f"), program_in.fileno, program_out.fileno)
        [program_in, program_out].each(&:close)
        writer.write(input)
        writer.close
        reader.binmode.read
      ensure
        [reader, program_out, program_in, writer].each { |io| io&.close }
      end
    end
  end
end
