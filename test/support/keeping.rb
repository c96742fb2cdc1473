# frozen_string_literal: true

# A program that keeps what it is told to, on line 3.
module Keeping
  # What the VM itself may take at a line: room for an array, descriptions of pages of its heap, a GC's mark stack.
  ROOM = 100_000

  # What may live at a line that keeps so many bytes.
  def kept(bytes)
    bytes..(bytes + ROOM)
  end

  # It writes "ready", after each line how many it keeps, and at the end "end". beside: code of its other threads
  def self.program(beside = "")
    <<~RUBY
      $kept = []
      $stdout.sync = true
      def keep(bytes) = $kept << ("x" * bytes)
      #{beside}
      puts "ready"
      while (line = $stdin.gets)
        keep(line.to_i)
        puts $kept.size
      end
      puts "end"
    RUBY
  end
end
