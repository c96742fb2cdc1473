# frozen_string_literal: true

require "fiddle"
require "heapline/checks"

# Blocks of which it is known whether they leave more behind with each run: what growth checks are tried with. Each
# entry makes a fresh block. Loaded in a process under heapline.
module GrowthExamples
  LEAKS = {
    "a block of 40 bytes in each run" => -> { -> { Fiddle.malloc(40) } },
    "a block of 40 bytes in every tenth run" => lambda {
      runs = 0
      -> { Fiddle.malloc(40) if ((runs += 1) % 10).zero? }
    },
    "a block of 40 bytes in every tenth run, by chance" => -> { -> { Fiddle.malloc(40) if rand < 0.1 } },
    "an empty block in each run" => -> { -> { Fiddle.malloc(0) } },
    "one block that is made longer in each run" => lambda {
      bytes = 16
      block = Fiddle.malloc(bytes)
      -> { block = Fiddle.realloc(block, bytes += 16) }
    },
    "a short string is kept in each run" => lambda {
      kept = []
      -> { kept << "x#{kept.size}" }
    },
    "a long string is kept in every tenth run" => lambda {
      kept = []
      runs = 0
      -> { kept << ("x" * 5000) if ((runs += 1) % 10).zero? }
    },
    "a class is kept in each run" => lambda {
      kept = []
      -> { kept << Class.new { def method = 1 } }
    },
    "a finalizer keeps its object" => lambda {
      -> { Object.new.then { |kept| ObjectSpace.define_finalizer(kept, proc { kept }) } }
    },
    "a thread leaves a block behind" => -> { -> { Thread.new { Fiddle.malloc(40) }.join } },
    "a leak at a buffer that goes up and down" => lambda {
      buffer = nil
      -> { [100, Fiddle.malloc(40)].then { buffer = "x" * rand(100_000) } }
    }
  }.freeze

  CLEAN = {
    "nothing" => -> { -> {} },
    "short-lived strings and arrays" => -> { -> { Array.new(100) { |i| "x" * (i + 50) }.map(&:upcase).join } },
    "a block that is freed" => -> { -> { Fiddle.free(Fiddle.malloc(40)) } },
    "JSON, there and back" => lambda {
      require "json"
      -> { JSON.parse(JSON.generate((1..50).to_h { |i| ["k#{i}", "v" * i] })) }
    },
    "a template" => lambda {
      require "erb"
      -> { ERB.new("<% 5.times do |i| %><%= i %><% end %>").result }
    },
    "memoization" => lambda {
      memo = nil
      -> { memo ||= "x" * 10_000 }
    },
    "a file that is loaded at first use" => lambda {
      first = true
      -> { (first = false) || require("optparse") if first }
    },
    "a cache of 50 entries" => lambda {
      cache = {}
      runs = 0
      -> { cache[runs += 1] = "v" * 100 and (cache.shift if cache.size > 50) }
    },
    "a cache of 180 entries" => lambda {
      cache = {}
      runs = 0
      -> { cache[runs += 1] = "v" * 100 and (cache.shift if cache.size > 180) }
    },
    "a memo of 100 keys that come by chance" => lambda {
      memo = {}
      -> { memo[rand(100)] ||= "v" * 100 }
    },
    "a cache of regular expressions" => lambda {
      cache = {}
      -> { (cache[rand(20)] ||= Regexp.new("a#{cache.size}+b")).match("xxaab") }
    },
    "a buffer that grows to a plateau" => lambda {
      buffer = +""
      -> { buffer.size > 2000 ? buffer.clear : buffer << ("x" * 10) }
    },
    "a buffer of a size that comes by chance" => lambda {
      buffer = nil
      -> { buffer = "x" * rand(100_000) }
    },
    "threads" => -> { -> { Array.new(3) { Thread.new { "x" * 1000 } }.each(&:join) } },
    "fibers" => -> { -> { Fiber.new { Fiber.yield("x" * 1000) }.resume } },
    "evaluated code" => -> { -> { eval("[1, 2].map { |x| x + 1 }") } }, # rubocop:disable Style/EvalWithLocation
    "classes that go" => -> { -> { Class.new { def method = 1 }.new.method } },
    "symbols that go" => -> { -> { :"s#{rand(1000)}" } },
    "an error that is rescued" => lambda {
      lambda do
        raise "x" * 10
      rescue RuntimeError
        nil
      end
    },
    "a weak map" => lambda {
      map = ObjectSpace::WeakMap.new
      -> { map[Object.new] = "x" * 50 }
    }
  }.freeze

  # Hash of name => whether the check said that it grows, in an order by chance.
  def self.answers(examples, seed: Random.new_seed)
    shuffled = examples.to_a.shuffle(random: Random.new(seed)).to_h
    shuffled.transform_values { |make| Heapline::Checks::Growth.new.run(&make.call).grown? }
  end
end
