# frozen_string_literal: true

# Builds flight files with known figures from the layout in flight_layout.h of the core: an implementation of the
# format that shares no code with the reader under test.
class FlightBuilder
  PAGE = 4096
  FIXED_PAGES = 4
  SITES_PER_PAGE = 170
  NUMBERS_PER_PAGE = 1024
  SITE_DIRECTORY_PAGE = 1
  LIBRARY_DIRECTORY_PAGE = 2
  TAG_DIRECTORY_PAGE = 3
  CELL = 64
  CAPACITY = 58
  CHUNK_HEAD = 4 * CELL
  OBJECT_ROWS_PER_PAGE = 32
  OBJECT_ROW_PAGES = (1 << 20) / OBJECT_ROWS_PER_PAGE
  OBJECT_DIRECTORY_PAGES = 33
  OBJECT_FIELDS = %i[allocated freed bytes_allocated bytes_freed age_sum temporary baseline base_allocated base_freed
                     base_bytes_allocated base_bytes_freed old_freed old_bytes_freed].freeze
  KINDS = { special: 0, ruby: 1, native: 2 }.freeze
  COUNT_FIELDS = %i[allocations bytes_allocated frees bytes_freed age_sum age_ms_sum temporary].freeze

  # Header fields: offset and pack format. The test of the layout compares them with the C compiler's.
  HEADER = {
    version: [8, "L"], byte_order: [12, "L"], state: [16, "L"], request: [20, "L"], answered: [24, "L"],
    pid: [28, "L"], parent: [32, "L"], forked_from: [36, "L"], top: [40, "L"], exit_status: [44, "L"],
    start_ticks: [48, "Q"], started_ns: [56, "Q"], ended_ns: [64, "Q"], page_count: [72, "Q"], page_limit: [80, "Q"],
    site_count: [88, "L"], site_limit: [92, "L"], library_count: [96, "L"], tag_count: [100, "L"],
    generation: [104, "Q"], gc_count: [112, "Q"], baseline: [120, "Q"], baseline_ns: [128, "Q"],
    baseline_generation: [136, "Q"], baseline_kind: [144, "L"], attribution: [148, "L"], live_bytes: [152, "q"],
    peak_bytes: [160, "q"], peak_ns: [168, "Q"], own_bytes: [176, "Q"], sites_refused: [184, "Q"],
    pages_refused: [192, "Q"], counts_lost: [200, "Q"], mismatches: [208, "Q"], ruby: [216, "a96"],
    allocator: [312, "a64"], command: [376, "a1024"], command_length: [1400, "L"], options: [1404, "a512"],
    large_bytes: [1920, "q"], figures: [1928, "a632"], object_directory: [2560, "L"], objects_on: [2564, "L"],
    object_rows: [2568, "L"], object_classes: [2572, "L"], objects_ns: [2576, "Q"], objects_allocated: [2584, "Q"],
    objects_freed: [2592, "Q"], objects_refused: [2600, "Q"], objects_untracked: [2608, "Q"],
    objects_mismatches: [2616, "Q"], objects_ractors: [2624, "Q"], objects_folds: [2632, "Q"], twin: [2640, "a160"],
    heap_page_figures: [2800, "a64"], lanes: [2868, "L"], moved_bytes: [2872, "Q"],
    pid_namespace: [2880, "Q"], forked_from_ticks: [2888, "Q"], top_ticks: [2896, "Q"], bytes_lost: [2904, "Q"],
    late_ns: [3312, "Q"], older_bytes: [3320, "Q"], older_frees: [3328, "Q"],
    older_bytes_freed: [3336, "Q"], stopped_ns: [3344, "Q"]
  }.freeze

  DEFAULTS = {
    version: 6, byte_order: 0x01020304, state: 2, pid: 4711, parent: 1, start_ticks: 1, started_ns: 1_000_000_000,
    ended_ns: 13_300_000_000, page_limit: 1 << 18, site_limit: 1 << 20, gc_count: 7, generation: 7, attribution: 1,
    ruby: "ruby 3.4.11 (2026-01-01 revision 0) [x86_64-linux]", allocator: "glibc 2.41"
  }.freeze

  def initialize(command: ["ruby", "leak.rb"], **header)
    @bytes = "\0".b * (PAGE * FIXED_PAGES)
    @header = DEFAULTS.merge(header)
    @command = command.map { |word| "#{word}\0" }.join.b
    @site_count = 4
    @names = { LIBRARY_DIRECTORY_PAGE => [nil], TAG_DIRECTORY_PAGE => [nil] }
    @pages = {}
    @lanes = []
    @chunks = {}
    @used = {}
    @slots = {}
    @baselines = Hash.new(0)
  end

  # A Ruby site; returns its number. loading: what `require` took for the line.
  def ruby_site(path, line, label: nil, library: nil, tag: nil, loading: false)
    site(:ruby, [string(path), line].pack("LL"), loading ? 1 : 0, label: string(label), library: library, tag: tag)
  end

  # A site that is called by its label alone; returns its number.
  def special_site(label, tag: nil)
    site(:special, [0].pack("Q"), 0, label: string(label), tag: tag)
  end

  # A site of native code; returns its number.
  def native_site(library, offset, symbol: nil, symbol_offset: 0)
    site(:native, [offset].pack("Q"), symbol_offset, library: library, label: string(symbol))
  end

  # What a lane counted for a site: COUNT_FIELDS, age_max, age_ms_max.
  def count(lane, site, age_max: 0, age_ms_max: 0, **fields)
    chunk, slot = slot_of(lane, site)
    put(chunk + CHUNK_HEAD + (slot * CELL), packed_count(fields, age_max, age_ms_max))
  end

  # What the lane had counted at its baseline.
  def base(lane, site, **fields)
    chunk, slot = slot_of(lane, site)
    put(base_of(chunk) + (slot * CELL), packed_count(fields, 0, 0))
  end

  # The part of the lane's frees since the baseline whose blocks were born before it.
  def old(lane, site, frees:, bytes_freed:)
    chunk, slot = slot_of(lane, site)
    put(base_of(chunk) + (CAPACITY * CELL) + (slot * 16), [frees, bytes_freed].pack("QQ"))
  end

  # Ruby objects of one class that were born at a site: OBJECT_FIELDS, age_max. Each call makes a row and a class of its
  # own. type: the number of T_OBJECT and so on; flags: see enum hl_object_class_flag.
  def object(site, class_name, type: 1, flags: 0, age_max: 0, **fields)
    number = (@objects ||= begin_objects) + 1
    @objects = number
    put(object_at(OBJECT_ROW_PAGES + (number / 512), number % 512 * 8), [string(class_name), type, flags].pack("LCC"))
    figures = OBJECT_FIELDS.map { |name| fields.fetch(name, 0) }
    put(object_row_at(number), [site, number, *figures.insert(7, age_max)].pack("LLQ6LLQ6"))
  end

  # Offset of a row of objects.
  def object_row_at(number)
    object_at(number / OBJECT_ROWS_PER_PAGE, number % OBJECT_ROWS_PER_PAGE * 128)
  end

  # Fields of the lane's own record, and the baseline that its counts saw.
  def lane(number, owner: 0, baseline: 0, live: 0, high: 0, published: 0)
    put(lane_at(number) + 12, [owner, live, high, published].pack("Lqqq"))
    @baselines[number] = baseline
    @chunks.fetch(number, []).each { |chunk| put(chunk + 16, [baseline].pack("Q")) }
  end

  # The file's bytes. `header` overrides fields of the header, for damage.
  def to_s(**header)
    fields = @header.merge(page_count: @bytes.bytesize / PAGE, site_count: @site_count, command: @command,
                           command_length: @command.bytesize, library_count: @names[LIBRARY_DIRECTORY_PAGE].size,
                           tag_count: @names[TAG_DIRECTORY_PAGE].size, **object_header).merge(header)
    bytes = @bytes.dup
    bytes[0, 8] = "HEAPLINE"
    fields.each do |name, value|
      offset, format = HEADER.fetch(name)
      packed = [value].pack(format)
      bytes[offset, packed.bytesize] = packed
    end
    bytes
  end

  # Write the file and return its path.
  def write(path, **header)
    File.binwrite(path, to_s(**header))
    path
  end

  # Overwrite bytes at an offset of the file: damage for tests.
  def put(offset, bytes)
    @bytes[offset, bytes.bytesize] = bytes.b
  end

  # Offset of a site's record.
  def site_at(number)
    (page_below(SITE_DIRECTORY_PAGE, number / SITES_PER_PAGE) * PAGE) + (number % SITES_PER_PAGE * 24)
  end

  # Offset of a lane's record; those before it come to be as well.
  def lane_at(number)
    @lanes << begin_lane(@lanes.size) while @lanes.size <= number
    @lanes[number]
  end

  # Offset of a lane's last chunk of counts.
  def chunk_at(lane)
    begin_chunk(lane) unless @chunks.key?(lane)
    @chunks.fetch(lane).last
  end

  private

  # Number 1 is (other).
  def begin_objects
    @header[:object_directory] = pages(OBJECT_DIRECTORY_PAGES)
    1
  end

  # Offset in the page that an entry of the directory leads to.
  def object_at(entry, offset)
    place = (@header[:object_directory] * PAGE) + (entry * 4)
    put(place, [pages(1)].pack("L")) if @bytes[place, 4] == "\0\0\0\0"
    (@bytes[place, 4].unpack1("L") * PAGE) + offset
  end

  def object_header
    count = @objects ? @objects + 1 : 0
    { object_rows: count, object_classes: count }
  end

  def site(kind, place, more, label: 0, library: nil, tag: nil)
    number = @site_count
    @site_count += 1
    record = [1, KINDS.fetch(kind), name(LIBRARY_DIRECTORY_PAGE, library), name(TAG_DIRECTORY_PAGE, tag), place,
              label, more].pack("CCSLa8LL")
    put(site_at(number), record)
    number
  end

  # Number of the name of a library or a tag.
  def name(directory, text)
    names = @names.fetch(directory)
    index = names.index(text)
    return index if index

    names << text
    page = name_page(directory, (names.size - 1) / NUMBERS_PER_PAGE)
    put((page * PAGE) + ((names.size - 1) % NUMBERS_PER_PAGE * 4), [string(text)].pack("L"))
    names.size - 1
  end

  # The page behind entry `index` of the directory that is this page, made where it is missing.
  def name_page(directory, index)
    @pages[[directory, index]] ||= pages(1).tap { |page| put((directory * PAGE) + (index * 4), [page].pack("L")) }
  end

  # The same of a directory of directories.
  def page_below(directory, index)
    @pages[[directory, :below, index]] ||= pages(1).tap do |page|
      put((name_page(directory, index / NUMBERS_PER_PAGE) * PAGE) + (index % NUMBERS_PER_PAGE * 4), [page].pack("L"))
    end
  end

  def string(text)
    return 0 if text.nil?

    page = pages(1)
    put(page * PAGE, [text.bytesize].pack("S") + text.b + "\0".b)
    page * PAGE / 8
  end

  def pages(count)
    first = @bytes.bytesize / PAGE
    @bytes << ("\0".b * (PAGE * count))
    first
  end

  def packed_count(fields, age_max, age_ms_max)
    COUNT_FIELDS.map { |field| fields.fetch(field, 0) }.pack("Q7") + [age_max, age_ms_max].pack("LL")
  end

  # Behind each other in the list that the header begins; each on a page of its own.
  def begin_lane(number)
    at = pages(1) * PAGE
    number.zero? ? @header[:lanes] = at / CELL : put(@lanes.last, [at / CELL].pack("L"))
    put(at + 8, [number].pack("L"))
    at
  end

  # The chunk and the slot in it where the lane counts the site.
  def slot_of(lane, site)
    @slots[[lane, site]] ||= begin
      used = chunk_at(lane) && @used[lane]
      begin_chunk(lane) if used == CAPACITY
      chunk = @chunks[lane].last
      slot = @used[lane]
      put(chunk + 24 + (slot * 4), [site].pack("L"))
      put(chunk + 12, [@used[lane] += 1].pack("L"))
      [chunk, slot]
    end
  end

  def begin_chunk(lane)
    link = @chunks.key?(lane) ? @chunks[lane].last : lane_at(lane) + 4
    at = pages(1) * PAGE
    put(link, [at / CELL].pack("L"))
    put(at, [0, 0, CAPACITY, 0, @baselines[lane]].pack("L4Q"))
    (@chunks[lane] ||= []) << at
    @used[lane] = 0
  end

  def base_of(chunk)
    place = @bytes[chunk + 4, 4].unpack1("L") * CELL
    return place unless place.zero?

    at = pages(2) * PAGE
    put(chunk + 4, [at / CELL].pack("L"))
    at
  end
end
