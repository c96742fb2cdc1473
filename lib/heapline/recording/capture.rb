# frozen_string_literal: true

require_relative "filter"
require_relative "../extension"
require_relative "native_names"
require_relative "sites"
require_relative "../errors"
require_relative "missing"
require_relative "model"

module Heapline
  # Reads a capture: the file of `heapline record`. Opening it reads it once, in memory that depends on how many blocks
  # were live at once. All that can be asked is then of the blocks that were chosen: it is as if only these had been
  # recorded.
  class Capture
    METRICS = { allocated: %i[allocated bytes], count: %i[allocated count], peak: %i[peak bytes], live: %i[live bytes],
                temporary: %i[temporary bytes], freed: %i[freed bytes] }.freeze
    DIRECTIONS = %i[top_down bottom_up].freeze
    GROUPS = Sites::KINDS
    NANOSECONDS = 1_000_000_000
    CELLS = 1_000_000
    # A frame whose names could not be read.
    LOST = Recording::Frame.new
    # From this version of the format on.
    TELLS_FREES = 3

    # path: the file. filter: see Filter; without one all of malloc's blocks. progress: called with [bytes read, bytes
    # in all], at most 20 times a second. Raises Error where nothing can be read.
    def self.open(path, **filter, &progress)
      new(path, Filter.new(**filter), progress)
    end

    # What a recording without room for all events means: Array of String, empty where nothing was lost. count: events.
    def self.losses(count)
      count.positive? ? [Recording::Missing.events(count)] : []
    end

    # The path as it was given.
    attr_reader :name

    # What all is told of: :blocks, :mappings or (Ruby) :objects.
    def kind
      @filter.kind
    end

    # Is all that is told of Ruby objects, and not of blocks?
    def objects?
      @filter.objects?
    end

    # Does it say who freed? Not of Ruby objects, which the GC alone frees, and not what an older heapline recorded.
    def tells_frees?
      !objects? && @native.header[:version] >= TELLS_FREES
    end

    # native_names: where they were asked for before.
    def initialize(path, filter = Filter.new, progress = nil, native_names: nil)
      Extension.load(:capture)
      @name = path
      @filter = filter
      @native_names = native_names
      @native = Native::Capture.new(path)
      @native.analyse(*filter.arguments(@native), &progress)
    end

    # Array of String: what could not be read, and what was lost.
    def problems
      unknown = @native.counts[5]
      [*@native.problems, *Capture.losses(@native.counts[3]), *(objects_end if objects?),
       *("#{unknown} blocks ended that were never seen to begin: their birth is in what could not be read" if
         unknown.positive?)]
    end

    # Array of String: what is not told, though nothing was lost: libraries that are not there any more, and in what is
    # told of blocks the objects that were not recorded.
    def notes
      [*(objects_end unless objects?), *native_names.notes]
    end

    # Recording::Summary. groups: with what its lines, gems … came to? Of a large capture they take as long as all else.
    def summary(groups: true)
      ended, peaked, events, lost, collections, _, paused = @native.counts
      began = (@native.spans.first if events.positive?) || 0
      Recording::Summary.new(
        **origin, chosen: @filter.words, seconds: (ended - began).fdiv(NANOSECONDS), events: events, lost: lost,
                  file_bytes: @native.bytes,
                  ending: @native.totals && @native.totals[:ending], sums: sums, peak_at: peaked.fdiv(NANOSECONDS),
                  collections: collections, gc_seconds: paused&.fdiv(NANOSECONDS), calls: calls,
                  sizes: Recording::Bucket.of(@native.size_rows),
                  ages: Recording::Bucket.of(@native.age_rows), **(groups ? self.groups : {})
      )
    end

    # A Capture of the Ruby objects beside the blocks, by the same filter; nil where none were recorded, or where this
    # one is not of blocks. The file is read once more. progress: as for open.
    def of_objects(&progress)
      return unless kind == :blocks && @native.classes.any?

      Capture.new(name, @filter.of_objects, progress, native_names: native_names)
    end

    # Recording::Sums of all chosen blocks.
    def sums
      Recording::Sums.of(@native.sums)
    end

    # Array of Recording::Group, most bytes at the peak first. by: :line, :file, :gem, :library, :method, :thread
    # :tag or, of
    # objects, :class
    def sites(by: :line)
      @sites ||= begin
        rows = @native.site_rows
        alone = rows.filter_map { |ruby, leaf| leaf if ruby.zero? } # elsewhere the line of Ruby says enough
        Sites.new(rows, frames, threads, tags, classes, functions(alone))
      end
      @sites.groups(by)
    end

    # Recording::Node, the root of all call paths. metric: a key of METRICS: what makes one the larger; count and
    # bytes of a node are of the blocks that it is about. direction: from the outermost frame on, or :bottom_up, from
    # who allocated, with at most 256 callers.
    def tree(metric: :peak, direction: :top_down)
      raise ArgumentError, DIRECTIONS.join(" or ") unless DIRECTIONS.include?(direction)

      kind, weight = METRICS.fetch(metric) { raise ArgumentError, "metric #{METRICS.keys.join(", ")}" }
      name_frames
      grow(@native.tree_rows(kind, direction == :bottom_up), weight)
    end

    # Array of Recording::Stack.
    def stacks
      name_frames
      @native.stack_rows.map do |path, thread, tag, klass, *sums|
        Recording::Stack.new(frames: path.map { |number| frames[number] || LOST }.freeze, thread: threads[thread],
                             tag: tags[tag], class_name: classes[klass], sums: Recording::Sums.of(sums))
      end
    end

    # [seconds of a span, Array of the first tick of each and how many there are, String]: blocks by row, by when they
    # were born and by when they ended, for a page that sums up what is chosen; see ext/heapline_capture/cells.hpp. The
    # capture is read twice more. rows: a number for each of `stacks`. most: cells; where there would be more, spans are
    # longer. progress: as for open.
    def cells(rows, most: CELLS, &progress)
      width, starts, data = @native.cells(rows, most, &progress)
      [width.fdiv(NANOSECONDS), starts, data]
    end

    # Array of Recording::Moment: the recording in at most `points` spans of equal length.
    def timeline(points: 100)
      begin_ns, width_ns, rows = @native.spans
      step = (rows.size + points - 1) / points
      samples = @native.samples
      pauses = !@native.counts.last.nil?
      rows.each_slice(step).with_index.map do |part, index|
        at = begin_ns + (index * step * width_ns)
        last = samples.reverse_each.find { |sample| sample.first <= at + (part.size * width_ns) }
        moment(at, part.size * width_ns, part, last, pauses)
      end
    end

    # Array of Recording::Collection: the GCs that began in the time that is chosen, in their order.
    def collections
      @native.collections.map do |before, begin_ns, end_ns, paused_ns, line|
        Recording::Collection.new(
          generation: before + 1, time: begin_ns.fdiv(NANOSECONDS),
          seconds: end_ns && (end_ns - begin_ns).fdiv(NANOSECONDS), gc_seconds: paused_ns&.fdiv(NANOSECONDS),
          frame: frames[line]
        )
      end
    end

    private

    # A sentence where objects ended to be recorded before what was chosen ends; else nil.
    def objects_end
      ended = @native.totals&.fetch(:objects_until_ns) || 0
      Recording::Missing.objects(ended.fdiv(NANOSECONDS)) if ended.positive? && @filter.reaches?(ended)
    end

    def origin
      header = @native.header
      started = header[:started_ns]
      { command: header[:command].freeze, ruby: header[:ruby], allocator: header[:allocator], pid: header[:pid],
        started_at: Time.at(started / NANOSECONDS, started % NANOSECONDS, :nsec),
        options: header[:options].keys.sort.freeze }
    end

    def groups
      { threads: sites(by: :thread), tags: tags.size > 1 ? sites(by: :tag) : [].freeze,
        libraries: objects? ? [].freeze : sites(by: :library), gems: sites(by: :gem), lines: sites(by: :line),
        classes: objects? ? sites(by: :class) : [].freeze }
    end

    def calls
      sums = @native.call_rows.each_with_object({}) do |(function, release, calls, bytes), all|
        sum = (all[[function, release]] ||= [0, 0])
        sum[0] += calls
        sum[1] += bytes
      end
      calls = sums.map do |(function, release), (count, bytes)|
        Recording::Call.new(function: function, release: release, calls: count, bytes: bytes)
      end
      calls = calls.select(&:mapping?) if kind == :mappings
      calls.sort_by { |call| [call.mapping? ? 1 : 0, call.release ? 1 : 0, -call.bytes, -call.calls, call.function] }
    end

    # Recording::Frame by number; 0: nil.
    def frames
      @frames ||= @native.frames.each_with_index.map do |row, number|
        Recording::Frame.new(**Recording::Frame.members.zip(row).to_h) unless number.zero?
      end
    end

    # Native frames are shown as the functions that they are; those have numbers above all others.
    def name_frames
      return if @named

      @named = true
      recorded = frames.dup
      functions = functions(recorded.each_index)
      numbers = Hash.new { |all, frame| all[frame] = frames.push(frame).size - 1 }
      recorded.each_with_index do |frame, number|
        names = functions[frame] or next
        @native.show(number, names.map { |name| numbers[name] })
      end
    end

    # { Frame => Array of Frame, the outermost function first }, of those whose names are known.
    def functions(numbers)
      native_names.of(numbers.filter_map { |number| frames[number] }.uniq)
    end

    def native_names
      @native_names ||= NativeNames.new(@native.libraries.to_h, now: @native.method(:identity))
    end

    # Names by number; several threads may have one.
    def threads
      @threads ||= [nil, *@native.threads.map { |name, tid| name || "thread #{tid}" }]
    end

    def tags
      @tags ||= [nil, *@native.tags]
    end

    def classes
      @classes ||= [nil, *Filter.class_names(@native.classes)]
    end

    # A child's number is above its parent's: from the last one on, each finds its children made.
    def grow(rows, weight)
      depths = depths(rows)
      children = Array.new(rows.size)
      (rows.size - 1).downto(0) do |number|
        parent, frame, own_count, own_bytes, count, bytes = rows[number]
        node = Recording::Node.new(
          frame: frames[frame] || (if number.positive?
                                     LOST
                                   end), depth: depths[number], count: count, bytes: bytes, own_count: own_count,
          own_bytes: own_bytes, children: ranked(children[number], weight)
        )
        return node if number.zero?

        (children[parent] ||= []) << node
      end
    end

    def depths(rows)
      rows.each_with_index.with_object([]) do |((parent, *), number), depths|
        depths << (number.zero? ? 0 : depths[parent] + 1)
      end
    end

    def ranked(nodes, weight)
      return [].freeze unless nodes

      nodes.sort_by { |node| [-node.public_send(weight), -node.count, node.frame&.name.to_s] }.freeze
    end

    def moment(begin_ns, width_ns, spans, sample, pauses)
      sums = spans.transpose
      rss, heap = sample&.values_at(1, 2)
      Recording::Moment.new(
        time: begin_ns.fdiv(NANOSECONDS), seconds: width_ns.fdiv(NANOSECONDS), allocations: sums[0].sum,
        bytes_allocated: sums[1].sum, frees: sums[2].sum, bytes_freed: sums[3].sum, live_bytes: sums[4].last,
        most_bytes: sums[5].max, collections: sums[6].sum, gc_seconds: (sums[7].sum.fdiv(NANOSECONDS) if pauses),
        rss: rss&.nonzero?, heap_bytes: heap&.nonzero?
      )
    end
  end
end
