# frozen_string_literal: true

require_relative "../files/input"

module Heapline
  module Leaks
    # The searches that processes make of themselves when they end, in their last at_exit handler: HEAPLINE_LEAKS asks
    # for them, and names the directory where their reports go (leak_file.h).
    module EndSearches
      VARIABLE = "HEAPLINE_LEAKS"
      # What stands there before the directory: a sum. apart: a record for each generation, and of a forked process
      # only what it asked for itself.
      WISHES = { reachable: 1, since: 2, apart: 4 }.freeze

      module_function

      # The value of the variable. wishes: keys of WISHES.
      def asked(directory, wishes)
        "#{WISHES.values_at(*wishes).sum}#{directory}"
      end

      # Array of [text, name].
      def reports(directory)
        files = Dir.glob(File.join(directory, "*.leaks"))
        files.map { |file| [Input.bytes(file, pipe: false), file] }
      end

      # The processes that ended (or go on) without a search, as "PID-STARTTICKS": a pid may have come twice. Left out
      # are those that said themselves why.
      def missing(directory)
        (names(directory, "begun") - names(directory, "leaks")).reject { |name| tried?(directory, name) }
      end

      # Those that were not searched before exec made them another program.
      def left(directory)
        names(directory, "left")
      end

      # Each process whose VM has begun left a file.
      def begun?(directory)
        names(directory, "begun").any?
      end

      def names(directory, kind)
        Dir.glob("*.#{kind}", base: directory).map { |name| name.delete_suffix(".#{kind}") }
      end

      def tried?(directory, name)
        Input.bytes(File.join(directory, "#{name}.begun"), pipe: false) == "1"
      end
      private_class_method :names, :tried?
    end
  end
end
