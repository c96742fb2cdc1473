# frozen_string_literal: true

require "tmpdir"
require_relative "../files/output_file"
require_relative "../heap/dominators_command"
require_relative "../heap/find_command"

module Heapline
  module Corefile
    # The objects and C blocks of a core as a heap dump, in a file without a name: what `heapline heap` can be asked of
    # a dump can be asked of it.
    class CoreHeap
      ADDRESS = Heap::FindCommand::ADDRESS
      LINE = /\A.+:\d+\z/

      # core: CoreFile; name: the core's, for messages; top: rows (0: all); contents: also what is in strings.
      def initialize(core, name:, top: 20, contents: false)
        @core = core
        @name = name
        @contents = contents
        @options = { top: top, values: contents }
      end

      # Who holds what is at an address, a class's instances, or what was asked for at a line: a Sheet.
      def holders(what)
        return holders_at(what) if what.match?(ADDRESS)

        of_line = of_line(what) if what.match?(LINE)
        opened do |dump|
          Heap::Instances.new(path: true, **@options).sheet(dump, *(of_line || of_class(dump, what)))
        end
      end

      # Which objects and blocks retain most: a Sheet.
      def dominators
        opened { |dump| Heap::Holders.new(**@options).sheet(dump) }
      end

      private

      def holders_at(word)
        address = Integer(word, 16)
        block = @core.block_at(address)
        opened do |dump|
          object = dump.object(address) || dump.object(block) or
            raise Error, "no object and no block of malloc's is at #{word} in #{@name}"
          Heap::Finding.new(path: true, **@options).sheet(dump, object)
        end
      end

      # Of the core and the graph one is in memory at a time.
      def opened
        Files::OutputFile.unnamed(directory) do |file|
          write(file)
          @core.forget
          yield HeapDump.open("/proc/self/fd/#{file.fileno}", index: true, name: @name)
        end
      end

      # Where the graph's lists are, too: /tmp may be in memory.
      def directory
        ENV["TMPDIR"].to_s.empty? && File.writable?("/var/tmp") ? "/var/tmp" : Dir.tmpdir
      end

      def write(file)
        @core.write_heap(file, contents: @contents)
      rescue Error => e
        raise Error, "#{e.message}; make room in #{directory}, or set TMPDIR to another directory"
      end

      def of_class(dump, name)
        group = dump.histogram(by: :class).find { |one| one.key == name } or
          raise Error, Inert.text("no instance of #{name} is in #{@name}; heapline core lists the classes")
        [group, dump.instances_of(name, limit: [group.count, Heap::Instances::SAMPLE].min)]
      end

      def of_line(line)
        row = @core.by_line? && @core.rows.find { |one| one.location.to_s == line } or raise Error, no_line(line)
        group = Heap::Group.new(key: "blocks of #{line}", count: row.live_blocks, bytes: row.live_bytes)
        [group, @core.blocks_of(line, limit: Heap::Instances::SAMPLE)]
      end

      def no_line(line)
        return Inert.text("nothing that was asked for at #{line} lives in #{@name}") if @core.by_line?

        "#{@name} is of a process without heapline: lines of its blocks are not known; give an address or a class"
      end
    end
  end
end
