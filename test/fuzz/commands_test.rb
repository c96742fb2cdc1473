# frozen_string_literal: true

require_relative "samples"
require "test_helper"
require "heapline/cli"
require "support/mutations"

# Every command that reads a file reads damaged ones: each ends with a status and, where it failed, with words; none
# with a Ruby exception, a signal, much memory, or not at all. Each run is a process of its own.
#
# HEAPLINE_FUZZ_RUNS: how many of each kind; HEAPLINE_FUZZ_SEED: the first seed, to repeat what failed.
class FuzzCommandsTest < Minitest::Test
  RUNS = Integer(ENV.fetch("HEAPLINE_FUZZ_RUNS", "25"))
  SEED = Integer(ENV.fetch("HEAPLINE_FUZZ_SEED", Random.new_seed % 1_000_000_000))
  BYTES_MOST = 500 << 20
  SECONDS_MOST = 10 # of processor time
  KEPT = File.expand_path("../../tmp/fuzz", __dir__)

  Run = Struct.new(:status, :err, :out, :grown, :raised, keyword_init: true)

  def setup
    Heapline::CLI::COMMANDS.each_value { |file, _| require "heapline/#{file}" }
    FileUtils.mkdir_p(KEPT)
  end

  # Of what could not be read, in an answer itself.
  WORDS = /could|left out|skipped|cut short|lost|no object|"problems":\s*\[\s*"/

  REPORTS = [%w[report FILE], %w[report --json FILE], %w[report --by gem FILE], %w[report -o OUT.html FILE],
             %w[report --format pprof FILE], %w[report --format collapsed FILE], %w[report --format csv FILE],
             %w[report --format speedscope FILE], %w[diff FILE SOUND], %w[diff SOUND FILE], %w[diff --json FILE SOUND],
             %w[report --objects FILE], %w[report --format prometheus FILE]].freeze
  CAPTURES = [%w[report FILE], %w[report --json FILE], %w[report --call-tree FILE], %w[report --bottom-up FILE],
              %w[report --timeline FILE], %w[report --by gem FILE], %w[report --by library FILE],
              %w[report --by line FILE], %w[report --by class --objects FILE], %w[report -o OUT.html FILE],
              %w[report -o OUT.svg FILE], %w[report --format firefox FILE], %w[report --format massif FILE],
              %w[report --format pprof FILE], %w[report --format collapsed FILE],
              %w[report --format speedscope FILE], %w[report --objects FILE], %w[diff FILE SOUND],
              %w[diff SOUND FILE], %w[replay --export OUT FILE], %w[report --metric freed --by line FILE]].freeze
  GROWTH = [%w[growth FILE], %w[growth --json FILE], %w[growth --by gem FILE], %w[growth --since 2m FILE],
            %w[growth --html OUT FILE], %w[diff FILE SOUND], %w[diff SOUND FILE], %w[report FILE],
            %w[report --log FILE -o OUT.html FLIGHT], %w[growth --pid 1000 FILE]].freeze
  DUMPS = [%w[heap histo FILE], %w[heap stat FILE], %w[heap find --class App FILE], %w[heap dominators FILE],
           %w[heap graph FILE 0x7f0000000028], %w[heap report -o OUT.html FILE], %w[heap diff SOUND FILE],
           %w[code FILE],
           %w[heap histo --json FILE], %w[heap histo --by line FILE], %w[code FILE SOUND]].freeze
  # name => [sound bytes, commands]
  KINDS = {
    flight: [-> { Samples.flight }, REPORTS],
    flight_plain: [-> { Samples.flight(objects: false) }, REPORTS],
    report: [-> { Samples.report }, REPORTS],
    capture: [-> { Samples.capture }, CAPTURES],
    recording: [-> { Samples.recording }, CAPTURES],
    capture_payloads: [-> { Samples.capture }, CAPTURES],
    growth: [-> { Samples.growth_log }, GROWTH],
    growth_gz: [-> { Zlib.gzip(Samples.growth_log) }, GROWTH],
    growth_zst: [-> { Samples.zstd(Samples.growth_log) }, GROWTH],
    dump: [-> { Samples.heap_dump }, DUMPS],
    dump_gz: [-> { Zlib.gzip(Samples.heap_dump) }, DUMPS],
    dump_zst: [-> { Samples.zstd(Samples.heap_dump) }, DUMPS],
    code: [-> { Samples.code }, [%w[code FILE], %w[code --json FILE], %w[code FILE SOUND], %w[code SOUND FILE],
                                 %w[code --by site FILE], %w[heap histo FILE]]],
    plan: [-> { Samples.plan }, [%w[replay --export OUT FILE],
                                 %w[replay --allocator glibc --repeat 1 --time-only FILE]]],
    suppressions: [-> { Samples.suppressions }, [%w[leaks --suppressions FILE /dev/null/none]]],
    token: [-> { "secret\nmore\n" }, [%w[serve --token-file FILE none]]],
    leaks: [-> { Samples.leaks }, [%w[text FILE], %w[json FILE], %w[junit FILE], %w[html FILE]]]
  }.freeze

  KINDS.each do |kind, (sound, commands)|
    define_method(:"test_#{kind}") { fuzz(kind, sound.call, commands) }
  end

  private

  def fuzz(kind, sound, commands)
    in_directory do |directory|
      @directory = directory
      File.binwrite(path("sound"), sound)
      File.binwrite(path("flight"), Samples.flight)
      commands.each { |words| check(kind, words, sound, "sound") }
      (kind == :recording ? RUNS / 5 : RUNS).times do |i|
        damaged = damage(kind, Random.new(SEED + i), sound)
        check(kind, commands[i % commands.size], damaged, "HEAPLINE_FUZZ_SEED=#{SEED + i} HEAPLINE_FUZZ_RUNS=1")
      end
    end
  end

  def damage(kind, random, sound)
    mutations = Mutations.new(random)
    return blocks_lost(sound, random) if kind == :recording
    return mutations.of(sound) unless kind == :capture_payloads

    Captures::Builder.rewritten(sound) { |payload| random.rand(3).zero? ? mutations.of(payload) : payload }
  end

  # Each block but the first may have a byte that is wrong.
  def blocks_lost(sound, random)
    damaged = sound.dup
    places = []
    sound.b.scan("HBLK".b) { places << Regexp.last_match.begin(0) }
    places.drop(1).sample(random.rand(1..3), random: random).each do |at|
      place = [at + 40 + random.rand(60), sound.bytesize - 1].min
      damaged.setbyte(place, damaged.getbyte(place) ^ (1 << random.rand(8)))
    end
    damaged
  end

  def check(kind, words, bytes, seed)
    File.binwrite(path("file"), bytes)
    run = run_apart { kind == :leaks ? leaks(words) : command(words) }
    problem = problem_of(run, kind)
    return pass unless problem

    kept = File.join(KEPT, "#{kind}-#{seed[/\d+/] || seed}")
    File.binwrite(kept, bytes)
    flunk "#{problem}\nheapline #{words.join(" ")}, FILE: #{kept}\nagain: #{seed} … -n test_#{kind}\n#{run.err}"
  end

  def path(name)
    File.join(@directory, name)
  end

  def command(words)
    words = words.map do |word|
      word.sub(/\AFILE\z/, path("file")).sub(/\ASOUND\z/, path("sound")).sub(/\AFLIGHT\z/, path("flight"))
          .sub(/\AOUT/, path("out"))
    end
    out = StringIO.new
    err = StringIO.new
    status = Heapline::CLI.start(words, env: { "HEAPLINE_DIR" => @directory, "PATH" => "/usr/bin:/bin" }, out: out,
                                        err: err)
    Run.new(status: status, out: out.string, err: err.string)
  end

  # What a search for lost blocks wrote.
  def leaks((format, _))
    rules = Heapline::Leaks::Rules.new(all: true)
    read = Heapline::Leaks::Reader.new(rules: rules, symbols: LeakReports::Names.new)
                                  .read(Heapline::Input.bytes(path("file")), path("file"))
    out = StringIO.new
    Heapline::Leaks::LeaksCommand.new(env: {}, out: out, err: out).send(:format, format).render(read, out)
    Run.new(status: 0, out: out.string, err: "")
  rescue Heapline::Error => e
    Run.new(status: Heapline::Command::FAILED, out: "", err: e.message)
  end

  # A Run of the block in a process that has limits; raised: what came out of it.
  def run_apart(&block)
    reader, writer = IO.pipe
    pid = fork do
      reader.close
      limit
      before = peak
      run = attempt(&block)
      run.grown = peak - before
      writer.binmode.write(Marshal.dump(run))
      exit!(0)
    end
    writer.close
    answer = reader.binmode.read
    ended = Process.wait2(pid).last
    answer.empty? ? Run.new(raised: "it ended by #{ended.inspect}", err: "") : Marshal.load(answer) # rubocop:disable Security/MarshalLoad -- our own
  ensure
    reader.close
  end

  def attempt
    yield
  rescue Exception => e # rubocop:disable Lint/RescueException -- none may come out
    Run.new(raised: "#{e.class}: #{e.message[0, 300]}\n#{e.backtrace.first(12).join("\n")}", err: "")
  end

  # What has no end takes no more than this of the machine.
  def limit
    Process.setrlimit(:CPU, SECONDS_MOST, SECONDS_MOST + 2)
    Process.setrlimit(:AS, 8 << 30)
    Process.setrlimit(:CORE, 0)
    $stdin.reopen(File::NULL)
  end

  def peak
    File.read("/proc/self/status")[/^VmHWM:\s+(\d+)/, 1].to_i << 10
  end

  def problem_of(run, kind)
    return run.raised if run.raised
    return run.err if run.err.include?("a mistake in heapline")
    return "it took #{run.grown >> 20} MB" if run.grown > BYTES_MOST
    unless run.out.dup.force_encoding("UTF-8").valid_encoding? || run.out.start_with?("\x1f\x8b".b)
      return "its output is no UTF-8"
    end
    return "status #{run.status}" unless [0, 1, 2, 3, *(127 if kind == :suppressions)].include?(run.status)

    "it failed without a word" if run.status.positive? && run.err.empty? && !run.out.match?(WORDS)
  end
end
