# frozen_string_literal: true

# What people found out about the figures; the page prints it beside them.
module Bench
  TRAILER = "malloc and free touch the trailer (eight bytes of heapline's after each block), often on a cache line " \
            "that the plain run leaves alone; the loop does little else."
  PAIR = "a pair takes 240 instructions more (test/bench/instructions_test.rb), at any number of threads."
  MEAN = "most of it comes from the workloads that do little but allocate; the mix, loading, computing and serving " \
         "stay below."
  private_constant :TRAILER, :PAIR, :MEAN

  # Why a target is missed where it is missed: by workload (nil: the mean) and kind of target.
  REMARKS = {
    ["short_strings", :time] => TRAILER,
    ["deep_stacks", :time] => TRAILER,
    ["redcarpet", :time] => TRAILER,
    ["documents", :time] => "its rounds spread from 1.01 to 1.19, on a machine that was not idle.",
    ["pairs_1", :pair] => PAIR,
    ["pairs_2", :pair] => PAIR,
    ["pairs_4", :pair] => PAIR,
    ["pairs_passed", :pair] => "the block's cache line travels between processors; the plain run varies as much.",
    ["web_server", :collections] =>
      "it depends on how its threads take turns: plain runs also differ by one or two of their 30 to 40.",
    ["load_library", :time] =>
      "free waits for the cache line of each trailer, and heapline looks up each line once, when it first runs.",
    ["object_mix", :objects] => "the CPU time is at the target, the elapsed time varies around it.",
    [nil, :watched] => "with three rounds the workloads' own ratios vary by more than this.",
    [nil, :mean] => MEAN,
    ["start", :start] =>
      "heapline looks up each line once, when it first runs (some 1,500), and first uses the memory of its tables.",
    ["start_command", :start] =>
      "`heapline CMD` is itself a Ruby program, which starts before the program that it runs."
  }.freeze
end
