# frozen_string_literal: true

# A core as small as one can be: libc's data with an arena, its heap with a block of heapline's, heapline's mark, and
# the first page of a program with the linker's list (as an ELF file it has that program's build-id, too); and, where it
# is asked for, what jemalloc knows of its memory.
module CoreSample
  LIBC = 0x7f00_0000_0000
  MARK = 0x7f10_0000_0000
  HEAP = 0x5500_0000_0000
  PROGRAM = 0x5400_0000_0000
  BUILD_ID = [*1..20].pack("C*")
  KEY = 0x1234_5678_9abc_def1
  PAGE = 4096
  MASK = (1 << 64) - 1
  # The next address after it is 0.
  LAST_PAGE = { (1 << 64) - PAGE - 8 => "\0" * PAGE }.freeze

  # Where jemalloc has its tree, what it describes memory in, that memory, and a thread's variables.
  TREE = 0x7f20_0000_0000
  BOOK = 0x7f30_0000_0000
  MEMORY = 0x4000_0000
  THREAD = 0x7f40_0000_0000
  # So much of them there is; what is not in the file was never touched.
  RESERVED = { TREE => 4 << 20, BOOK => 4 << 20, MEMORY => 1 << 20 }.freeze
  # Pages of slabs of 32 regions of 128 bytes; three of four of them are in use.
  SLABS = 5
  LARGE = MEMORY + (SLABS * PAGE)
  FREE = LARGE + (5 * PAGE)

  # more: address => bytes of further memory.
  def self.bytes(more = {})
    notes = note(0x4649_4c45, files(more.keys & [TREE])) + note(6, [3, PROGRAM + 64, 5, 3, 0, 0].pack("Q*")) +
            status + build_id
    parts = { HEAP => heap, LIBC => libc, MARK => mark, PROGRAM => program, **more }
    head = [0x7f, *"ELF".bytes, 2, 1, 1].pack("C*").ljust(16, "\0") +
           [4, 62, 1, 0, 64, 0, 0, 64, 56, parts.size + 1, 0, 0, 0].pack("S2LQ3LS6")
    at = 2 * PAGE
    heads = [[4, 4, PAGE, 0, 0, notes.size, 0, 4].pack("L2Q6")]
    parts.each do |address, memory|
      heads << [1, 6, at, address, 0, memory.size, RESERVED.fetch(address, memory.size), PAGE].pack("L2Q6")
      at += memory.size
    end
    (head + heads.join).ljust(PAGE, "\0") + notes.ljust(PAGE, "\0") + parts.values.join
  end

  def self.note(type, body)
    [5, body.size, type].pack("L3") + "CORE".ljust(8, "\0") + body.ljust((body.size + 3) / 4 * 4, "\0")
  end

  def self.build_id
    [4, BUILD_ID.size, 3].pack("L3") + "GNU\0#{BUILD_ID}".b
  end

  # Headers of itself, of its dynamic section and of its notes; the first leads to the linker's list of one.
  def self.program
    head = [0x7f, *"ELF".bytes, 2, 1, 1].pack("C*").ljust(16, "\0") +
           [3, 62, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0].pack("S2LQ3LS6")
    headers = [[6, 64, 168], [2, 512, 32], [4, 256, build_id.size]].map do |type, at, size|
      [type, 4, at, at, at, size, size, 4].pack("L2Q6")
    end
    list = [21, PROGRAM + 544, 0, 0, 1, PROGRAM + 576, 0, 0, PROGRAM, PROGRAM + 640, PROGRAM + 512, 0, 0, 0].pack("Q*")
    parts = { 0 => head + headers.join, 256 => build_id, 512 => list, 640 => "program\0" }
    parts.each_with_object("\0".b * PAGE) { |(at, bytes), page| page[at, bytes.bytesize] = bytes }
  end

  def self.files(more)
    begins = [LIBC, MARK, PROGRAM, *more]
    table = [begins.size, PAGE, *begins.flat_map { |address| [address, address + PAGE, 0] }].pack("Q*")
    table << "/lib/libc.so.6\0/lib/libheapline.so\0/bin/program\0" << ("/lib/libjemalloc.so.2\0" * more.size)
  end

  # Of a thread: where its variables end, and its stack.
  def self.status
    registers = Array.new(27, 0)
    registers[19] = THREAD + 64
    registers[21] = THREAD + PAGE
    note(1, ["", 1, *registers].pack("a32L@112Q27").ljust(336, "\0"))
  end

  # Memory of jemalloc's, as 5.3 describes it.
  def self.jemalloc
    memory = Array.new(10, words({}))
    memory[SLABS] = words(17 => MEMORY + 256)
    { MEMORY => memory.join, TREE => words(1 => BOOK + (2 * PAGE)), BOOK => words(book) + descriptions + leaf,
      THREAD => words(variables) }
  end

  def self.words(at)
    at.each_with_object(Array.new(PAGE / 8, 0)) { |(index, word), all| all[index] = word }.pack("Q*")
  end

  def self.book
    { 0 => 4 << 20, 3 => BOOK + (2 << 20), 4 => 2 << 20 }
  end

  # [address, bytes, state, size class, a slab's free regions]
  def self.extents
    free = 0x2222_2222
    [*Array.new(SLABS) { |i| [MEMORY + (i * PAGE), PAGE, 0, 8, free] }, [LARGE + 64, 5 * PAGE, 0, 36, nil],
     [FREE, PAGE, 1, 232, nil]]
  end

  def self.descriptions
    rows = extents.map do |address, bytes, state, kind, free|
      bits = (free ? 1 << 12 : 0) | (state << 17) | (kind << 20) | (free.to_i.digits(2).sum << 28)
      [bits, address, bytes, 0, 0, 0, 0, 0, free.to_i, *Array.new(7, 0)].pack("Q*")
    end
    rows.join.ljust(PAGE, "\0")
  end

  def self.leaf
    words(extents.each_with_index.to_h do |(address, _, state, kind, free), i|
      [(address - MEMORY) / PAGE, (kind << 48) | (BOOK + PAGE + (i * 128)) | (state << 2) | (free ? 1 : 0)]
    end)
  end

  # A stack of a block for each size class; that of the class of the slabs has the first one's third region.
  def self.variables
    first = LARGE + 64 + 8
    stacks = Array.new(10) { |kind| [first + (kind * 8), first + (kind * 8) + 8] }
    stacks.each_with_index.with_object({}) do |((begins, ends), kind), words|
      words[1 + (3 * kind)] = kind == 8 ? begins : ends
      words[3 + (3 * kind)] = ((begins & 0xffff) << 16) | ((ends & 0xffff) << 32)
    end
  end

  # Each bin leads to itself.
  def self.libc
    words = Array.new(PAGE / 8, 0)
    arena = 8
    words[arena + 12] = HEAP + 0x60
    127.times { |i| words[arena + 14 + (2 * i)] = words[arena + 15 + (2 * i)] = LIBC + ((arena + 12 + (2 * i)) * 8) }
    words[arena + 270] = LIBC + (arena * 8)
    words[arena + 273] = words[arena + 274] = PAGE
    words.pack("Q*")
  end

  def self.heap
    block = HEAP + 16
    body = (5 << 44) | (8 << 18)
    check = (((body ^ block ^ KEY) * 0x9e37_79b9_7f4a_7c15) & MASK) >> 47
    words = Array.new(PAGE / 8, 0)
    words[1] = 0x61
    words[12] = body | check
    words[13] = (PAGE - 0x60) | 1
    words.pack("Q*")
  end

  def self.mark
    fields = [MARK + 256, MARK + 264, MARK + 268, MARK + 272, MARK + 280, MARK + 296, MARK + 304].pack("Q*")
    head = ("heapline core 3\0".b + fields).ljust(256, "\0")
    state = [KEY, 0, 1].pack("QL2") + "/tmp\0\0\0\0x.flight".ljust(24, "\0") + [4711, MARK + 512].pack("Q2")
    (head + state).ljust(512, "\0") + flight.ljust(PAGE - 512, "\0")
  end

  # As much as the reader looks at: the magic and the number of pages.
  def self.flight
    "HEAPLINE".ljust(72, "\0") + [4].pack("Q")
  end
end
