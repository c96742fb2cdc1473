# frozen_string_literal: true

require "open3"
require "support/accounted"
require "support/native_programs"
require "heapline/accounting/flight"

# Runs programs under `heapline record` and reads their captures with a reader of the tests' own, event by event.
module Recorded
  include Accounted

  ROOT = File.expand_path("../..", __dir__)
  # As ext/heapline_capture/event.hpp numbers them.
  KINDS = { 1 => :malloc, 2 => :calloc, 3 => :realloc, 4 => :memalign, 5 => :aligned_alloc, 6 => :posix_memalign,
            7 => :valloc, 8 => :pvalloc, 9 => :new, 10 => :mmap, 11 => :realloc_older, 12 => :mremap_older,
            13 => :remains, 14 => :resize, 15 => :remap, 16 => :free, 17 => :delete, 18 => :munmap, 19 => :vanish,
            20 => :free_older, 21 => :munmap_older, 24 => :thread_start, 25 => :thread_end, 26 => :gc_start,
            27 => :gc_end, 28 => :lost, 29 => :gc_enter, 30 => :gc_exit, 22 => :object,
            23 => :object_freed, 31 => :object_resized }.freeze
  BIRTHS = (%i[malloc calloc realloc memalign aligned_alloc posix_memalign valloc pvalloc new realloc_older] +
            %i[resize]).freeze
  ENDS = %i[free delete free_older resize].freeze
  MAPPINGS = %i[mmap remap remains].freeze

  # One event; bytes: that were asked for, or what its kind says; stack: frames as "label@path:line", outermost first.
  Event = Struct.new(:kind, :thread, :block, :bytes, :alignment, :stack, :time_ns, :tag, keyword_init: true)

  # A capture as a whole. threads: number => [name, tid]; samples: [ns, RSS, bytes of the object heap].
  class Capture
    attr_reader :events, :threads, :ending, :lost, :problems, :pid, :ruby, :samples

    def initialize(text)
      @events = []
      @threads = {}
      @stacks = Hash.new([].freeze)
      @problems = []
      @samples = []
      text.each_line(chomp: true) { |line| take(*line.split("\t", -1)) }
    end

    def finished?
      @finished == "1"
    end

    def births
      events.select { |event| BIRTHS.include?(event.kind) }
    end

    def of(kind)
      events.select { |event| event.kind == kind }
    end

    # What the accounting calls allocations, bytes allocated, frees and bytes freed.
    def totals
      sizes = Hash.new(0)
      freed = ended = 0
      events.each do |event|
        freed += sizes[event.block] if ENDS.include?(event.kind)
        ended += 1 if ENDS.include?(event.kind)
        sizes[event.block] = event.bytes if BIRTHS.include?(event.kind)
      end
      [births.size, births.sum(&:bytes), ended, freed]
    end

    private

    def take(word, *fields)
      case word
      when "header" then header(*fields)
      when "thread" then @threads[fields[0].to_i] = [fields[1], fields[2].to_i]
      when "stack" then @stacks[fields[0].to_i] = fields[1].split("|")
      when "event" then @events << event(*fields)
      when "problem" then @problems << fields[0]
      when "sample" then @samples << fields.map(&:to_i)
      when "end" then finish(*fields)
      end
    end

    def header(pid, ruby, *)
      @pid = pid.to_i
      @ruby = ruby
    end

    def finish(ending, lost, finished)
      @ending = ending
      @lost = lost.to_i
      @finished = finished
    end

    def event(*fields, tag)
      kind, thread, block, size, alignment, stack, time = fields.map(&:to_i)
      Event.new(kind: KINDS.fetch(kind), thread: thread, block: block, bytes: size, alignment: alignment,
                stack: @stacks[stack], time_ns: time, tag: tag)
    end
  end

  # Record `heapline record OPTIONS ruby FILE`; the Capture. What the command wrote is in @out and @err.
  def record(source, *options, ruby: [], env: {})
    record_command(*options, "--", RbConfig.ruby, "--disable=gems", *ruby, program(source), env: env)
    capture
  end

  def record_command(*words, env: {})
    @out, @err, @status = heapline("record", "-o", path("run.hlc"), *words, env: env)
  end

  # The Capture of a running process. On a busy machine it may stand still for as long as it is recorded: again then.
  def recorded_until(pid, *options)
    await("what is to be recorded does not come") do
      _, err, status = heapline("record", *Heapline::TestHelper::PATIENTLY, pid.to_s, *options, "--duration", "0.3",
                                "-o", path("run.hlc"))
      assert_predicate status, :success?, err
      seen = capture
      assert_predicate seen, :finished?
      assert_empty seen.problems
      seen if yield seen
    end
  end

  def capture(file = path("run.hlc"))
    assert_path_exists file, @err
    text, problem, status = Open3.capture3(reader, file)
    assert status.success?, problem
    Capture.new(text)
  end

  def flight_of(pid)
    flight_files.find { |path| File.basename(path).start_with?("#{pid}-") } or flunk "no flight file of #{pid}"
  end

  # What the process's flight file says: allocations, bytes allocated, frees, bytes freed.
  def accounted(pid)
    sites = Heapline::Accounting::Flight.read(flight_of(pid)).sites
    %i[allocations bytes_allocated frees bytes_freed].map { |name| sites.sum(&name) }
  end

  # Recorded to the end: nothing is lost, and all equals what the accounting counted.
  def assert_exact(capture)
    assert capture.finished?
    assert_equal 0, capture.lost, @err
    assert_empty capture.problems
    assert_empty unseen_ends(capture)
    assert_equal accounted(capture.pid), capture.totals
    assert_live_identity([flight_of(capture.pid)])
  end

  private

  # Blocks at whose address another began. Mappings end so where the program maps over them: Ruby 4.1 maps the stacks of
  # Ractors into memory that it reserved.
  def unseen_ends(capture)
    kinds = {}
    capture.events.select do |event|
      next kinds.store(event.block, event.kind) && false unless event.kind == :vanish

      !MAPPINGS.include?(kinds[event.block])
    end
  end

  def reader
    sources = Dir[File.join(ROOT, "ext/heapline_capture/*.cpp")].grep_v(/binding|drain|ring/)
    NativePrograms.program("capture_events", "-std=c++17", *sources, "-lzstd")
  end
end
