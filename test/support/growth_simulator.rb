# frozen_string_literal: true

require "json"

# Writes growth logs of processes that never were, with sites whose behaviour is known. Everything comes from the seed.
class GrowthSimulator
  # One site. kind: what was planted (a method of Shapes); verdict: what should be found; rate: bytes a second of a
  # leak.
  Planted = Struct.new(:location, :kind, :verdict, :rate, keyword_init: true)

  LEAKS = %i[native_block retained_strings eval_code leak_after_warm_up leak_of_some].freeze
  OTHERS = { lru_cache: :cache, warm_up: :cache, one_off_import: :bloat, churn: :churn, load_noise: :steady,
             load_wave: :steady, gc_sawtooth: :steady, constant: :steady, idle: :steady, falling: :steady }.freeze
  # What only the interval of GCs tells apart.
  GARBAGE = { kept_of_garbage: :leak, waiting_garbage: :churn }.freeze
  KINDS = LEAKS.to_h { |kind| [kind, :leak] }.merge(OTHERS).freeze

  attr_reader :planted

  # lines: how many lines each process writes; every: seconds between them (nil: drawn for each process); rarer: GCs
  # become 3 to 21 times as rare, as beside a large leak
  def initialize(seed:, processes: 1, lines: 30, every: nil, rarer: false, kinds: KINDS.keys)
    @random = Random.new(seed)
    @processes = processes
    @lines = lines
    @every = every
    @rarer = rarer
    @kinds = kinds
    @planted = []
  end

  # Write the log to `io`.
  def write(io)
    @processes.times { |number| Life.new(self, @random, number, @lines, @every || draw_interval, **life).write(io) }
    io
  end

  private

  def life
    { kinds: @kinds, rarer: @rarer ? @random.rand(2.0..20.0) : 0 }
  end

  def draw_interval
    [10, 30, 60, 60, 60, 300, 600].sample(random: @random)
  end

  # One process from its first line to its last.
  class Life
    START = Time.utc(2026, 3, 1, 9)
    GC_S = 5.0 # seconds from one GC to the next, at first

    def initialize(simulator, random, number, lines, every, kinds:, rarer:)
      @random = random
      @number = number
      @lines = lines
      @every = every
      @sites = kinds.map.with_index { |kind, i| site(simulator, kind, i) }
      @gcs = 100.0
      @rarer = rarer
      @phase = random.rand
      @busy = 1.0
      @held = number.odd? ? 10**random.rand(3.0..6.0) : 0 # fragmentation: freed, and not given back, bytes a second
    end

    def write(io)
      @lines.times do |seq|
        @gc_s = GC_S * (1 + (@rarer * seq / @lines))
        @gcs += @every / @gc_s * @random.rand(0.5..1.5)
        @generation = @gcs.to_i
        @load = load_at(seq)
        io.puts JSON.generate(line(seq))
      end
    end

    private

    def site(simulator, kind, index)
      location = "/app/p#{@number}/#{kind}.rb:#{index + 1}"
      shapes = Shapes.new(kind, @random, @lines, @every, location)
      simulator.planted << Planted.new(location: location, kind: kind, verdict: { **KINDS, **GARBAGE }.fetch(kind),
                                       rate: shapes.rate)
      shapes
    end

    # Requests arrive unevenly: slow drift, noise, and over a day a wave of a half.
    def load_at(seq)
      @busy = (0.7 * @busy) + (0.3 * Math.exp(@random.rand(-0.5..0.5)))
      @busy * (1 + (0.5 * Math.sin(2 * Math::PI * (@phase + (seq * @every / 86_400.0)))))
    end

    def line(seq)
      sites = @sites.map { |site| site.step(seq, @load, @generation, @gc_s) }
      live = sites.sum { |site| site[:live_bytes] }
      { schema: "heapline-growth/2", time: (START + (seq * @every)).strftime("%Y-%m-%dT%H:%M:%S.%3NZ"),
        host: "web-1", pid: 1000 + @number, started_at: START.strftime("%Y-%m-%dT%H:%M:%S.%3NZ"), parent_pid: 1,
        forked_from_pid: nil, command: "puma: worker #{@number}", ruby: "ruby 3.4.1", allocator: "glibc 2.41",
        state: "running", seq: seq, every_s: @every, elapsed_s: seq.zero? ? nil : @every.to_f,
        rss_bytes: 90_000_000 + live + (@held * seq * @every).round, pss_bytes: nil, swap_bytes: 0, ledger: nil,
        totals: { live_bytes: live, bytes_allocated: sites.sum { |site| site[:bytes_allocated] } },
        gc_count: @generation, generation: @generation, dropped_lines: 0, sites: sites }
    end
  end

  # How a site's live bytes move. All bytes; a step is one interval.
  class Shapes
    attr_reader :rate

    def initialize(kind, random, lines, every, location)
      @kind = kind
      @random = random
      @lines = lines
      @every = every
      @location = location
      @rate = 10**random.rand(3.0..6.0) # bytes a second, 1 kB to 1 MB
      @base = 10**random.rand(4.0..7.0)
      @size = 10**random.rand(5.5..8.0)
      @when = random.rand(0.15..0.5) * lines
      @noise = random.rand(0.05..0.4)
      @retained = 0.0
      @allocated = @base
      @wave = random.rand
    end

    # gc_s: seconds from one GC to the next.
    def step(seq, load, generation, gc_s)
      @gc_s = gc_s
      live, temporary, share = *send(@kind, seq, load)
      @allocated += temporary + [live - @live.to_f, 0].max
      rate = (temporary / @every).round(1)
      @live = [live, 0].max.round
      { location: @location, label: "Planted##{@kind}", gem: nil, library: nil, tag: nil, kind: "ruby",
        live_bytes: @live, live_blocks: @live / 100, growth_bytes: @live - @base.round,
        allocations: (@allocated / 100).round,
        bytes_allocated: @allocated.round, alloc_bytes_per_s: rate, age_mean_generations: age(share),
        age_max_generations: generation / 2, age_mean_ms: nil, temporary_share: share }
    end

    private

    def age(share)
      return 1.0 if share > 0.99

      share > 0.8 ? 0.3 : 40.0 / @gc_s
    end

    # [live, bytes allocated in passing, share that dies young]
    def native_block(_seq, load)
      [@base + leak(load), @rate * @every, 0.0]
    end

    # A line that makes many strings and keeps a few: what is in flight comes on top, up to megabytes.
    def retained_strings(_seq, load)
      flight = [@rate * @every * 10, 2_000_000].min * load * exponential
      [leak(load) + flight, 50 * @rate * @every * load, 0.97]
    end

    # Compiled code comes in pieces, when a template is met for the first time.
    def eval_code(_seq, load)
      piece = [@rate * @every / 3, 20_000].max
      @retained += piece * poisson(@rate * @every * load / piece)
      [@base + @retained, @rate * @every, 0.1]
    end

    def leak_after_warm_up(seq, load)
      warm = [@rate * @every * 5, @size].min * (1 - Math.exp(-seq / 2.0))
      [@base + warm + leak(load) + in_flight(load, @rate * @every), @rate * @every * 3, 0.4]
    end

    # A cache in front of the leak hides nothing: only some requests leak.
    def leak_of_some(_seq, load)
      @retained += @rate * @every * load * 2 if @random.rand < 0.5
      [@base + @retained + in_flight(load, @rate * @every * 2), @rate * @every * 10, 0.6]
    end

    # The same, where what comes on top is all that was allocated since the last GC, or the one before it. At the end
    # what is kept is 3 to 30 times what one GC of the usual frequency frees.
    def kept_of_garbage(_seq, load)
      churn = @rate * @lines * @every / Life::GC_S / (3 * (10**@wave))
      [leak(load) + garbage(churn * load), churn * @every * load, 0.999]
    end

    def waiting_garbage(_seq, load)
      [garbage(@base * load), @base * @every * load, 0.999]
    end

    # What is dead and not swept yet: up to what is allocated from one GC to the next but one.
    def garbage(rate)
      rate * @gc_s * @random.rand(0.1..1.6)
    end

    def leak(load)
      @retained += @rate * @every * load
    end

    # Fills as misses become rare, and evicts from then on.
    def lru_cache(seq, load)
      filled = 1 - Math.exp(-3.0 * seq / @when)
      filled = [seq / @when, 1.0].min if @wave > 0.5
      [@base + (@size * filled * (1 - (0.02 * @random.rand))) + in_flight(load, @size / 100),
       @size / 5 * load, 0.2]
    end

    def warm_up(seq, load)
      [@base + (@size * (1 - Math.exp(-seq / (@when / 5)))) + in_flight(load, @base / 10), @base * load, 0.5]
    end

    def one_off_import(seq, load)
      done = ((seq - @when) / [@random.rand, 0.01].max).clamp(0.0, 1.0)
      done = seq > @when ? 1.0 : 0.0 if @wave > 0.3
      [@base + (@size * done) + in_flight(load, [@base, @size].min * @noise / 3), @base * load, 0.5]
    end

    def churn(_seq, load)
      [@base * (0.2 + (load * exponential)), @base * 200 * load, 0.99]
    end

    def load_noise(_seq, load)
      [@base * (0.5 + load) * normal_factor, @base * 5 * load, 0.5]
    end

    def load_wave(seq, load)
      wave = 1 + (0.5 * Math.sin(2 * Math::PI * (@wave + (seq * @every / 86_400.0))))
      level = wave * (0.8 + (0.2 * load)) * (1 + (@random.rand(-1.0..1.0) * @noise / 4))
      [@size * level, @size * level * 3, 0.3]
    end

    # What is dead stays until the next major GC, which comes when enough was allocated.
    def gc_sawtooth(_seq, load)
      period = 3 + (@wave * 5)
      @cycle = (@cycle.to_f + (load / period)) % 1
      [@base + (@size * @cycle * normal_factor), @size / period * load, 0.2]
    end

    def constant(_seq, _load)
      [@base, 0.0, 0.0]
    end

    def idle(seq, _load)
      [@base + (seq == (@lines * @wave).round ? 100 : 0), 1.0, 0.0]
    end

    def falling(seq, load)
      [(@size * (1 - (seq / @lines.to_f))) + in_flight(load, @size / 20), @base * load, 0.3]
    end

    def in_flight(load, scale)
      scale * load * exponential
    end

    def exponential
      -Math.log(1 - @random.rand)
    end

    def normal_factor
      1 + (@noise * (@random.rand + @random.rand + @random.rand - 1.5))
    end

    def poisson(mean)
      count = 0
      product = @random.rand
      limit = Math.exp(-[mean, 500].min)
      while product > limit
        count += 1
        product *= @random.rand
      end
      count
    end
  end
end
