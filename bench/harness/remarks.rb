# frozen_string_literal: true

# What people found out about the figures; the page prints it beside them.
module Bench
  TRAILER = "malloc and free touch the trailer (eight bytes of heapline's after each block), often on a cache line " \
            "that the plain run leaves alone; the loop does little else."
  PAIR = "a pair takes 175 instructions more (test/bench/instructions_test.rb), at any number of threads. What " \
         "+9.6 ns came to without one of its answers: +5.8 without the Ruby line, +8.7 without a look at the GC and " \
         "at what was freed, +9.2 without ages, +9.2 without live bytes and their peak."
  MEAN = "what it costs to mark and count blocks at all stands under *least*; the rest comes from workloads that do " \
         "little but allocate, and from short runs, in which most lines run for the first time."
  SHARE = "a profile has %s of its time in heapline, %s in free alone, which waits for the cache line of each trailer."
  GC = "Ruby starts a GC by what malloc_usable_size says of its blocks, and the trailer makes that up to 8 bytes " \
       "more or less."
  TURNS = "it depends on how its threads take turns: plain runs also differ by some per cent."
  ROUNDS = "its rounds vary, by how the threads of server and client take turns on two processors, and by where the " \
           "memory of each server lies: [rails.md](rails.md#what-a-request-costs) has servers asked in turns."
  LOADED = "its rounds vary by more than this where other machines share the processors: least's do so, too."
  OWN = "each thread has counters of its own for the lines that it ran, 64 bytes a line, and a cache of up to 11 kB."
  private_constant :TRAILER, :PAIR, :MEAN, :SHARE, :GC, :TURNS, :ROUNDS, :LOADED, :OWN

  # Why a target is missed where it is missed: by workload (nil: the mean) and kind of target.
  REMARKS = {
    ["short_strings", :time] => TRAILER,
    ["deep_stacks", :time] => TRAILER,
    ["redcarpet", :time] => TRAILER,
    ["documents", :time] =>
      "on Ruby 4.0 a profile has 14 % of its time in heapline: half in malloc and free, a third where lines run for " \
      "the first time or methods of Ruby's own in Ruby have to be passed over; glibc takes 4 % less than plain.",
    ["documents", :blocks_time] =>
      "a profile has 18 % of its time in heapline: 7 % unwinds native stacks, 2 % finds them in their table.",
    ["addressable", :time] => format(SHARE, "14 %", "8 %"),
    ["mail", :time] => format(SHARE, "10 %", "4 %"),
    ["rubocop", :time] =>
      "a profile has 9 % of its time in heapline, half of it for lines that run for the first time: the run is short.",
    ["hexapdf", :time] => "it was 1.08 in another run of five rounds.",
    ["fibers", :time] =>
      "a malloc in another fiber than the one before it takes 258 instructions more, where else one and its free " \
      "take 173: whose frames these are is found out anew.",
    ["rubocop", :rss] =>
      "each of its lines (33,000 where it is only loaded) has counters, names and a place in two tables, each block " \
      "has eight bytes.",
    ["mail", :collections] => GC,
    ["load_library", :collections] => GC,
    ["hexapdf", :collections] => GC,
    ["addressable", :collections] => GC,
    ["rubocop", :collections] => GC,
    ["rails_boot", :time] =>
      "a start takes 6.8 % more instructions (*least*: 1.8 %): half of them are malloc's and free's, 16 % tell what " \
      "is being loaded, 20 % name lines that run for the first time.",
    ["rails_1", :collections] => TURNS,
    ["rails_5", :collections] => TURNS,
    ["rails_32", :collections] => TURNS,
    ["rails_200", :collections] => TURNS,
    ["rails_1", :time] => ROUNDS,
    ["rails_5", :time] => ROUNDS,
    ["rails_32", :time] => ROUNDS,
    ["rails_200", :time] => ROUNDS,
    ["rails_32", :rss] => OWN,
    ["rails_200", :rss] => OWN,
    ["web_server", :time] => ROUNDS,
    ["few_allocations", :time] => LOADED,
    ["chunky_png", :time] => LOADED,
    ["liquid_render", :time] => LOADED,
    ["pairs_1", :pair] => PAIR,
    ["pairs_2", :pair] => PAIR,
    ["pairs_4", :pair] => PAIR,
    ["pairs_passed", :pair] =>
      "the trailer's cache line travels between processors besides the block's own: also for *least*.",
    ["web_server", :collections] =>
      "it depends on how its threads take turns: plain runs also differ by one or two of their 30 to 40.",
    ["load_library", :time] =>
      "free waits for the cache line of each trailer, and heapline looks up each line once, when it first runs.",
    ["object_mix", :objects] =>
      "most of it is what Ruby does once there is a hook: it leaves its fast path for each object.",
    [nil, :watched] => "with three rounds the workloads' own ratios vary by more than this.",
    [nil, :mean] => MEAN,
    [nil, :mean_record] =>
      "the process that writes shares two processors with the program, and its start is in each time.",
    [nil, :mean_rss] =>
      "each line that ran has counters, names and a place in two tables, each block eight bytes; these programs are " \
      "small.",
    ["start", :start] =>
      "heapline looks up each line once, when it first runs (some 1,500), and first uses the memory of its tables.",
    ["start_command", :start] =>
      "`heapline CMD` is itself a Ruby program, which starts before the program that it runs: 8 ms of its time are " \
      "Ruby's own start, 4 to 5 its code being read."
  }.freeze
end
