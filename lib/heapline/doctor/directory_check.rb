# frozen_string_literal: true

require "open3"
require_relative "../figures/units"
require_relative "../accounting/flight_directory"

module Heapline
  module Doctor
    # The flight directory: does it exist, is it this user's alone, is there room?
    class DirectoryCheck
      LEAST_ROOM = 64 * 1024 * 1024

      def initialize(env)
        @directory = Accounting::FlightDirectory.new(env)
        @path = @directory.path
        @given = env["HEAPLINE_DIR"]
      end

      def finding
        what, remedy = trouble
        return Finding.new(name: "flight files", state: :problem, text: what, remedy: remedy) if what

        Finding.new(name: "flight files", state: :ok, text: [@path, room_text, presence].compact.join(", "))
      end

      private

      def trouble
        return relative if @given && !@given.start_with?("/")

        @directory.trouble || cramped
      end

      def relative
        ["HEAPLINE_DIR=#{@given} is not absolute and is ignored", "give it as an absolute path"]
      end

      def cramped
        return nil if room.nil? || room >= LEAST_ROOM

        ["#{@path} has room for #{Units.bytes(room)} only", "free some, or set HEAPLINE_DIR to another place"]
      end

      # Free bytes, or nil where df cannot say.
      def room
        @room ||= begin
          existing = File.exist?(@path) ? @path : File.dirname(@path)
          output, status = Open3.capture2("df", "-P", "-k", "--", existing, err: File::NULL)
          status.success? ? output.lines.last.split[-3].to_i * 1024 : nil
        rescue SystemCallError
          nil
        end
      end

      def room_text
        room && "#{Units.bytes(room)} free"
      end

      def presence
        "made at the first run" unless File.exist?(@path)
      end
    end
  end
end
