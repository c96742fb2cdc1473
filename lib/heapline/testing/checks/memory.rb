# frozen_string_literal: true

require_relative "../findings"

module Heapline
  module Checks
    # How much memory a block needs at most beyond what there was before it: malloc'ed bytes that are live at a time,
    # exact for the calling thread, and the pages that Ruby's object heap grew by.
    class Memory
      # Bytes of a page of the object heap; GC knows it from Ruby 3.2 on.
      PAGE = GC::INTERNAL_CONSTANTS.fetch(:HEAP_PAGE_SIZE, 65_536)

      # Run it: Testing::BlockMemory. Raises what the block raises; NotEnabled without the preload.
      def run(&)
        pages = Heapline.quiet do
          GC.start
          GC.stat(:heap_allocated_pages)
        end
        malloc = Peak.during(&)
        more = [GC.stat(:heap_allocated_pages) - pages, 0].max
        Testing::BlockMemory.new(malloc_bytes: malloc, object_bytes: more * PAGE)
      end
    end

    # The most malloc'ed bytes that were live at a time while a block ran, beyond those that were live before it. The
    # core has one high mark that begins anew at each reading; blocks that overlap, nested or in several threads, each
    # get the highest of all readings during them.
    # @api private
    module Peak
      LOCK = Mutex.new
      OPEN = [] # rubocop:disable Style/MutableConstant -- under LOCK

      # What one block saw. before: bytes live when it began; most: the most that were live since.
      Window = Struct.new(:before, :most)

      # Bytes (Integer, 0 or more). Raises NotEnabled without the preload.
      def self.during
        window = open
        begin
          yield
        ensure
          bytes = close(window)
        end
        bytes
      end

      # Begin a Window; it is closed by `close`.
      def self.open
        LOCK.synchronize { Window.new(read, 0).tap { |window| OPEN << window } }
      end

      # The bytes of a window, which ends here.
      def self.close(window)
        LOCK.synchronize do
          read
          OPEN.delete_if { |open| open.equal?(window) }
        end
        [window.most - window.before, 0].max
      end

      # Bytes live now; all open windows get to know what was most since the last reading.
      def self.read
        most, live = Native.peak_restart
        OPEN.each { |window| window.most = most if window.most < most }
        live
      end
      private_class_method :read
    end
  end
end
