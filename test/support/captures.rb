# frozen_string_literal: true

# Captures with planted events, written by what docs/capture-format.md says and not by the code under test, and what is
# true of them, found slowly.
module Captures
  KINDS = { malloc: 1, calloc: 2, realloc: 3, posix_memalign: 6, mmap: 10, remains: 13, resize: 14, remap: 15, free: 16,
            munmap: 18, vanish: 19, free_older: 20, thread_start: 24, gc_start: 26, gc_end: 27, lost: 28,
            gc_enter: 29, gc_exit: 30, object: 22, object_freed: 23, object_resized: 31 }.freeze
  BIRTHS = %i[malloc calloc realloc posix_memalign mmap remains].freeze
  CHANGES = %i[resize remap].freeze
  ENDS = %i[free munmap vanish].freeze
  MAPPINGS = %i[mmap remains remap munmap].freeze
  MASK = (1 << 64) - 1

  # time: ns; block: number; size: bytes; stack: Array of frames [label, path, line, library, offset], outermost first
  # rubocop:disable Lint/StructNewOverride -- blocks have a size, nobody asks for a Struct's
  # class_name: of an object that is born
  Event = Struct.new(:kind, :time, :block, :size, :stack, :thread, :tag, :class_name, keyword_init: true) do
    # rubocop:enable Lint/StructNewOverride
    def allocates?
      BIRTHS.include?(kind) || CHANGES.include?(kind)
    end

    # Has it a stack and a tag?
    def placed?
      allocates? || kind == :object || ended?
    end

    # Are they those of who ended it, or of what ran into a GC?
    def ended?
      %i[free munmap free_older gc_start].include?(kind)
    end

    def ends?
      ENDS.include?(kind) || CHANGES.include?(kind)
    end

    def mapping?
      MAPPINGS.include?(kind)
    end
  end

  # The bytes of a capture.
  class Builder
    UNIT = 1000 # ns a step

    # libraries: { path => which file it was }
    attr_reader :events, :samples, :libraries
    attr_accessor :header

    def initialize
      @events = []
      @samples = []
      @libraries = {}
      @header = { "version" => 3, "time_unit_ns" => UNIT, "pid" => 4711, "page_size" => 4096, "generation" => 0,
                  "started_ns" => 1_700_000_000_000_000_000, "ruby" => "ruby 3.4.1", "allocator" => "glibc 2.41",
                  "command" => "ruby" }
      @live = {}
      @free = []
      @highest = 0
    end

    # A block; returns what names it.
    def birth(time, size, stack, kind: :malloc, thread: nil, tag: nil)
      number = @free.shift || (@highest += 1)
      add(kind, time, block: number, size: size, stack: stack, thread: thread, tag: tag)
      number
    end

    def change(time, number, size, stack, kind: :resize, thread: nil, tag: nil)
      add(kind, time, block: number, size: size, stack: stack, thread: thread, tag: tag)
    end

    def end(time, number, kind: :free, stack: [], thread: nil, tag: nil)
      @free << number
      add(kind, time, block: number, stack: stack, thread: thread, tag: tag)
    end

    # A Ruby object; returns what names it.
    def object(time, bytes, class_name, stack = [], thread: nil)
      number = @free.shift || (@highest += 1)
      add(:object, time, block: number, size: bytes, stack: stack, thread: thread, class_name: class_name)
      number
    end

    def object_freed(time, number)
      @free << number
      add(:object_freed, time, block: number)
    end

    def object_resized(time, number, bytes)
      add(:object_resized, time, block: number, size: bytes)
    end

    # An end of what is older than the recording.
    def older(time)
      add(:free_older, time)
    end

    def mark(time, kind, value = 0, stack: nil)
      add(kind, time, size: value, stack: stack)
    end

    # Bytes of the file; every: events in a block. totals: Hash for the END, or nil where there is none.
    def to_s(every: 100, totals: { "time_ns" => @events.last&.time.to_i, "lost" => 0, "ending" => "exit 0" })
      bytes = "heapline-capture".b + block(1, pairs(@header)) + block(2, names, count: 1)
      @events.each_slice(every) { |part| bytes << block(3, columns(part), count: part.size, time: part.first.time) }
      unless @samples.empty?
        bytes << block(4, @samples.flatten.map { |value|
          varint(value)
        }.join, count: @samples.size)
      end
      totals ? bytes << block(6, pairs(totals)) : bytes
    end

    # The bytes of a capture with other payloads, which their heads prove: the block gets each payload and returns one.
    def self.rewritten(bytes)
      at = "heapline-capture".bytesize
      parts = [bytes.byteslice(0, at)]
      while at < bytes.bytesize
        section, stored, count, time = bytes.byteslice(at, 40).unpack("x4Cx3Vx4Vx4Q<")
        payload = yield bytes.byteslice(at + 40, stored)
        parts << new.send(:block, section, payload, count: count, time: time)
        at += 40 + stored
      end
      parts.join
    end

    private

    def add(kind, time, **fields)
      @events << Event.new(kind: kind, time: time / UNIT * UNIT, **fields)
    end

    def block(section, payload, count: 0, time: 0)
      head = ["HBLK", section, 0, 0, payload.bytesize, payload.bytesize, count, 0, time, check(payload)]
      packed = head.pack("a4CCvVVVVQ<Q<")
      whole = check(packed)
      head[7] = (whole ^ (whole >> 32)) & 0xffffffff
      head.pack("a4CCvVVVVQ<Q<") + payload
    end

    def check(bytes)
      whole = bytes.bytesize / 8
      words = bytes.unpack("Q<#{whole}") + bytes.byteslice(whole * 8..).bytes
      words.inject(0xcbf29ce484222325) do |hash, word|
        hash = ((hash ^ word) * 0x100000001b3) & MASK
        hash ^ (hash >> 32)
      end
    end

    def varint(number)
      bytes = []
      while number >= 0x80
        bytes << ((number & 0x7f) | 0x80)
        number >>= 7
      end
      [*bytes, number].pack("C*")
    end

    def text(string)
      varint(string.to_s.bytesize) + string.to_s.b
    end

    def pairs(hash)
      hash.map { |key, value| text(key) + text(value) }.join
    end

    def names
      @strings = {}
      @frames = {}
      @nodes = {}
      @threads = {}
      @tags = {}
      @classes = {}
      @entries = "".b
      @events.each { |event| name(event) }
      @libraries.each { |path, identity| entry({}, path, 7) { number(path) + number(identity) } }
      (varint(1) * 5) + @entries
    end

    def name(event)
      node(event.stack) if event.stack
      entry(@threads, event.thread, 4) { number(event.thread) + varint(100 + @threads.size) } if event.thread
      entry(@tags, event.tag, 5) { number(event.tag) } if event.tag
      entry(@classes, event.class_name, 8) { class_of(event.class_name) } if event.class_name
    end

    # Number, name, T_OBJECT. The name is written before.
    def class_of(name)
      varint(@classes.size + 1) + number(name) + varint(1)
    end

    # Its number, from 1; new ones are written.
    def entry(table, key, sort)
      return table[key] if table.key?(key)

      rest = yield
      @entries << [sort].pack("C") << rest
      table[key] = table.size + 1
    end

    def string(value)
      value ? entry(@strings, value, 1) { text(value) } : 0
    end

    def number(value)
      varint(string(value))
    end

    def frame((label, path, line, library, offset))
      key = [label, path, line, library, offset]
      entry(@frames, key, 2) do
        number(label) + number(path) + varint(line.to_i) + number(library) + varint(offset.to_i)
      end
    end

    def tells_ends?
      @header["version"] >= 3
    end

    def node(stack)
      return 0 if stack.empty?

      parent = node(stack[0..-2])
      entry(@nodes, stack, 3) { varint(parent) + varint(frame(stack.last)) }
    end

    def fold(number)
      ((number << 1) ^ (number >> 63)) & MASK
    end

    def columns(events)
      columns = Array.new(tells_ends? ? 9 : 8) { "".b }
      time = events.first.time / UNIT
      thread = tag = last = ender = 0
      first = time
      events.each do |event|
        op = KINDS.fetch(event.kind)
        now = event.time / UNIT
        if now != time
          op |= 0x20
          columns[5] << varint(now - time)
        end
        time = now
        if @threads.fetch(event.thread, 0) != thread
          op |= 0x40
          columns[6] << varint(thread = @threads.fetch(event.thread, 0))
        end
        if event.block
          columns[1] << varint(fold(event.block - last))
          last = event.block
        end
        columns[4] << varint(64) if event.kind == :posix_memalign
        columns[4] << varint(@classes.fetch(event.class_name)) if event.class_name
        if event.placed? && (tells_ends? || !event.ended?)
          if @tags.fetch(event.tag, 0) != tag
            op |= 0x80
            columns[7] << varint(tag = @tags.fetch(event.tag, 0))
          end
          stack = event.stack.to_a.empty? ? 0 : @nodes.fetch(event.stack)
          columns[2] << varint(stack) unless event.ended?
          columns[8] << varint(fold(stack - ender)) if event.ended?
          ender = stack if event.ended?
        end
        columns[3] << varint(event.size) if event.size
        columns[0] << [op].pack("C")
      end
      varint(first) + columns.drop(1).map { |column| varint(column.bytesize) }.join + columns.join
    end
  end

  # The truth about events, the plainest way there is.
  class Oracle
    # rubocop:disable Lint/StructNewOverride -- see Event
    Block = Struct.new(:birth, :size, :stack, :thread, :tag, :mapping, :born_at, :born_in, :died_at, :died_in, :ender,
                       keyword_init: true) do
      # rubocop:enable Lint/StructNewOverride
      # Generations.
      def age(last)
        (died_in || last) - born_in
      end
    end

    attr_reader :generations

    # from, to: ns
    def initialize(events, from: nil, to: nil)
      @from = from || 0
      @to = to || Float::INFINITY
      @generations = 0
      @blocks = []
      live = {}
      events.each_with_index do |event, index|
        break if event.time >= @to

        @generations += 1 if event.kind == :gc_start
        @end = event.time
        finish(live, event, index) if event.ends?
        start(live, event, index) if event.allocates?
      end
    end

    # Sums as Recording::Sums has them, of the blocks for which the block is true; mappings: of which?
    def sums(mappings: false, &chosen)
      blocks = born(mappings).select { |block| chosen.nil? || chosen.call(block) }
      at, = peak(blocks)
      parts = [blocks, at ? alive(blocks, at) : [], blocks.reject(&:died_at),
               blocks.select { |block| block.died_at && block.age(0) <= 1 }, blocks.select(&:died_at)]
      parts.flat_map { |part| [part.size, part.sum(&:size)] }
    end

    # Sums by what the block says of each, of those that were born, or of who ended one; the peak is that of all.
    def by(mappings: false, &key)
      blocks = born(mappings)
      at, = peak(blocks)
      groups = blocks.group_by(&key)
      ended = blocks.select(&:died_at).group_by { |block| key.call(block.ender) }
      (groups.keys | ended.keys).to_h do |name|
        group = groups.fetch(name, [])
        parts = [group, at ? alive(group, at) : [], group.reject(&:died_at),
                 group.select { |block| block.died_at && block.age(0) <= 1 }, ended.fetch(name, [])]
        [name, parts.flat_map { |part| [part.size, part.sum(&:size)] }]
      end
    end

    # [index of the first event after which most was live, bytes]
    def peak(blocks = @blocks.reject(&:mapping))
      moments = blocks.map(&:birth).sort
      moments.map { |index| [index, alive(blocks, index).sum(&:size)] }
             .max_by { |index, bytes| [bytes, -index] }
    end

    private

    def born(mappings)
      @blocks.select { |block| block.mapping == mappings && block.born_at >= @from }
    end

    def alive(blocks, index)
      blocks.select { |block| block.birth <= index && (block.died_at.nil? || block.died_at > index) }
    end

    def start(live, event, index)
      live[event.block] = Block.new(birth: index, size: event.size, stack: event.stack, thread: event.thread,
                                    tag: event.tag, mapping: event.mapping?, born_at: event.time,
                                    born_in: @generations)
      @blocks << live[event.block]
    end

    def finish(live, event, index)
      block = live.delete(event.block) or return
      block.died_at = index
      block.died_in = @generations
      block.ender = event
    end
  end

  # Events at random, with stacks that share their beginnings, threads, tags, collections and mappings.
  def self.random(seed, count)
    random = Random.new(seed)
    stacks = stacks(random)
    builder = Builder.new
    live = []
    maps = []
    time = 0
    count.times do
      time += random.rand(3_000_000) if random.rand(4).zero?
      who = { thread: ["main", "worker", nil].sample(random: random), tag: ["a", "b", nil, nil].sample(random: random) }
      size = random.rand(1 << random.rand(1..16))
      case random.rand(20)
      when 0..7 then live << builder.birth(time, size, stacks.sample(random: random), **who)
      when 8..13
        live.empty? || builder.end(time, live.delete_at(random.rand(live.size)),
                                   stack: stacks.sample(random: random), **who)
      when 14..15
        live.empty? || builder.change(time, live.sample(random: random), size, stacks.sample(random: random), **who)
      when 16 then maps << builder.birth(time, 4096, stacks.sample(random: random), kind: :mmap, **who)
      when 17 then maps.empty? || builder.end(time, maps.pop, kind: :munmap)
      when 18 then builder.mark(time, :gc_start, 1)
      else builder.older(time)
      end
    end
    builder
  end

  def self.stacks(random)
    Array.new(12) do
      Array.new(random.rand(0..6)) do |depth|
        if depth == 5
          [nil, nil, nil, "/usr/lib/libxml2.so.2", random.rand(3)]
        else
          ["m#{random.rand(3)}", "/gems/rack-3.0/lib/f#{random.rand(2)}.rb", random.rand(1..3), nil, nil]
        end
      end
    end
  end

  # The path of a capture with these bytes, as long as the block runs.
  def self.file(bytes)
    Dir.mktmpdir("heapline-test") do |dir|
      path = File.join(dir, "run.hlc")
      File.binwrite(path, bytes)
      yield path
    end
  end
end
