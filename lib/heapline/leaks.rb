# frozen_string_literal: true

require_relative "leaks/beside"
require_relative "leaks/reader"
require_relative "leaks/suppressions"
require_relative "unnamed_file"

# Lost blocks of this process.
module Heapline
  class << self
    # Look for blocks that nothing leads to any more: after a full GC, in a copy of the process; the other threads go
    # on.
    # Model::Leaks: Enumerable of Model::LossRecord. Needs HEAPLINE=blocks (or `heapline leaks …`).
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
      symbols = Leaks::Symbols.new(run: Leaks::Beside.method(:output))
      quiet { Leaks::Reader.new(rules: rules, symbols: symbols).read(Leaks.search(since, reachable), "the search") }
    end
  end

  # Looking for lost blocks, and reading what was found.
  module Leaks
    # The report of a search in this process (String).
    def self.search(since, reachable)
      UnnamedFile.read { |file| Native.leaks(file.fileno, since, reachable, false) }
    end
  end
end
