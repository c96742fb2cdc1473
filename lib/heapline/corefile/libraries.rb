# frozen_string_literal: true

require "open3"
require_relative "../accounting/native_places"

module Heapline
  module Corefile
    # Names of functions in the libraries that a core's process had loaded, for who asks Places::Functions: only from
    # files of the same builds (Native::CoreFile#names_file).
    class Libraries < Places::Functions
      # The tool is given up after five minutes of processor time, as a damaged file may keep it busy without end.
      CHILD = lambda do |words, input|
        Open3.capture2(Places::Symbols::ENVIRONMENT, *words, stdin_data: input, err: File::NULL, rlimit_cpu: 300).first
      end

      # core: Native::CoreFile; wanted: did somebody ask for files of other machines?
      def initialize(core, wanted:)
        @core = core
        @wanted = wanted
        @files = Hash.new { |files, path| files[path] = file(path) }
        super(Places::Symbols.new(run: CHILD))
      end

      # Array of String: what was missing for what was asked for so far.
      def problems
        return @core.library_problems unless @wanted && @files.any? && !@symbols.tool

        tools = Places::Symbols::TOOLS.join(", ")
        [*@core.library_problems,
         "only exported functions have names: none of #{tools} is there (#{Places::Symbols::PACKAGES})"]
      end

      # { place => "parse  parser.c:120" } of those Location in native code of which that is known. Each library is
      # asked for once.
      def functions(places)
        Accounting::NativePlaces.functions(places, functions: self)
      end

      def at(path, addresses)
        super(@files[path], addresses)
      end

      def object(path)
        super(@files.fetch(path, path))
      end

      private

      # As the tool opens it while we have it open. "": there is none.
      def file(path)
        number = @core.names_file(path)
        number ? "/proc/#{Process.pid}/fd/#{number}" : ""
      end
    end
  end
end
