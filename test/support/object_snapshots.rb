# frozen_string_literal: true

require "heapline/accounting/flight"
require_relative "snapshots"

# Snapshots with Ruby objects of known figures.
module ObjectSnapshots
  include Snapshots

  # An ObjectSite at path:line; figures that are not given are 0, growth, retained and what counts since the baseline
  # follow from what was allocated and freed. Slots have 40 bytes unless `slot` says otherwise.
  def objects_at(path, lineno, class_name, allocated: 0, freed: 0, type: "T_OBJECT", label: nil, tag: nil, slot: 40,
                 internal: false, **figures)
    live = allocated - freed
    known = { allocated: allocated, freed: freed, slot_bytes_allocated: allocated * slot, growth: live, retained: live,
              slot_bytes_freed: freed * slot, growth_bytes: live * slot, retained_bytes: live * slot,
              since_allocated: allocated, since_slot_bytes_allocated: allocated * slot }
    location = Heapline::Places::Location.new(path: path, lineno: lineno, label: label)
    Heapline::Objects::ObjectSite.new(location: location, tag: tag, class_name: class_name, type: type,
                                      internal: internal, **Heapline::Objects::ObjectSite::ZERO, **known, **figures)
  end

  def objects(*sites)
    Heapline::Objects::Snapshot.new(sites)
  end

  # `leaky`, whose lines also make Ruby objects: orders that stay, strings that go, and entries of a cache.
  def leaky_objects(**attributes)
    leaky.with(objects: objects(
      objects_at("/app/leak.rb", 12, "String", type: "T_STRING", label: "Object#leak_memory", allocated: 100_000,
                                               freed: 50_000, age_sum: 100_000, age_max: 4, temporary: 2_000),
      objects_at("/app/leak.rb", 12, "Shop::Order", label: "Object#leak_memory", allocated: 50_000),
      objects_at("/app/lib/cache.rb", 88, "Cache::Entry", type: "T_STRUCT", label: "Cache#put", allocated: 9_000,
                                                          freed: 789, age_sum: 789, age_max: 2, temporary: 700),
      objects_at("/app/lib/cache.rb", 90, nil, type: "T_IMEMO", label: "Cache#each", allocated: 700, freed: 690,
                                               age_sum: 10, temporary: 690)
    ), **attributes)
  end

  # Names that would break a line, a terminal or a parser, as names of classes.
  def hostile_objects
    sites = Snapshots::HOSTILE.each_with_index.map do |name, i|
      objects_at(name, 1, name, allocated: 1000 + i, label: name, tag: name)
    end
    hostile.with(objects: objects(*sites))
  end
end
