# frozen_string_literal: true

require_relative "../files/input"

module Heapline
  module Places
    # The source around a location, as the process sees it. It may have been changed since the process loaded it: what
    # is there now is all that can be known.
    module SourceLines
      # number; text without its line end; here: is it the location's own?
      Line = Struct.new(:number, :text, :here, keyword_init: true)
      # So many lines before and after.
      CONTEXT = 3
      # Larger files (bytes) are no source; of a line not more than TEXT bytes are of interest.
      LIMIT = 8 * 1024 * 1024
      TEXT = 500

      # Array of Line; nil where there is no such file or line. pid: of the process; where it has gone, or is another
      # user's, the file is looked for here.
      def self.read(location, pid: nil)
        return nil unless location.path && location.lineno&.positive?

        candidates(location.path, pid).each do |path|
          lines = lines_of(path, location.lineno)
          return lines if lines
        end
        nil
      end

      # The process may have another root (a container) and another directory than we have.
      def self.candidates(path, pid)
        absolute = path.start_with?("/")
        return [path].select { absolute } unless pid

        absolute ? ["/proc/#{pid}/root#{path}", path] : ["/proc/#{pid}/cwd/#{path}"]
      end

      def self.lines_of(path, number)
        found = around(Input.bytes(path, most: LIMIT, pipe: false), number)
        found if found.any?(&:here)
      rescue InputError
        nil
      end

      def self.around(source, number)
        source.each_line.with_index(1).each_with_object([]) do |(text, at), found|
          break found if at > number + CONTEXT
          next if at < number - CONTEXT

          found << Line.new(number: at, text: text.byteslice(0, TEXT).chomp.gsub("\t", "  "), here: at == number)
        end
      end
      private_class_method :candidates, :lines_of, :around
    end
  end
end
