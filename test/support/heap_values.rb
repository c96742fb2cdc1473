# frozen_string_literal: true

require "stringio"
require "heapline/table/sheet_text"
require "heapline/heap/dominators"
require "heapline/heap/object"
require "heapline/places/location"

# Heap dumps made of nothing but values, with the methods of Heapline::HeapDump: answers by the simplest means, for
# graphs of a few objects.
module HeapValues
  Heap = Heapline::Heap

  # One object as it is written down in a test; refs: Hash of an address to the name by which it is had, or nil.
  class Graph
    attr_reader :objects, :edges

    def initialize
      @objects = {}
      @edges = Hash.new { |all, key| all[key] = {} }
    end

    # A root; refs: as for add
    def root(name, refs)
      @objects[name] = Heap::Object.new(type: "ROOT", class_name: name)
      @edges[name] = refs
    end

    # An object; others: fields of Heap::Object
    def add(address, type, class_name, refs = {}, **others)
      @objects[address] = Heap::Object.new(address: address, type: type, class_name: class_name, bytes: 40,
                                           slot_bytes: 40, **others)
      @edges[address] = refs
    end
  end

  # What retains what, by taking each object away and looking what can no longer be reached.
  class Tree
    def initialize(graph)
      @graph = graph
      @roots = graph.objects.keys.grep(String)
      @reached = reach(nil)
    end

    def top(count = 20)
      largest(@reached.grep(Integer), count)
    end

    def retained(address)
      holder(address) if @reached.include?(address)
    end

    def children(address = nil, count = 20)
      largest(@reached.grep(Integer).select { |each| dominator(each) == address }, count)
    end

    def parent(address)
      found = dominator(address)
      found && holder(found)
    end

    def by_class(count = 20)
      members = @reached.grep(Integer).group_by { |address| @graph.objects[address].class_name }
      groups = members.map { |name, addresses| group(name, addresses, held(addresses)) }
      groups.sort_by { |each| [-each.bytes, each.key] }.first(count)
    end

    def reachable
      group("reachable", @reached.grep(Integer))
    end

    def unreachable
      group("unreachable", @graph.objects.keys.grep(Integer) - @reached)
    end

    private

    # All that roots lead to without going through `taken` (Array).
    def reach(taken)
      seen = @roots.dup
      seen.each { |key| seen.concat(@graph.edges[key].keys - seen - Array(taken)) }
      seen
    end

    def held(addresses)
      @reached - reach(addresses)
    end

    # The nearest of those that hold the address.
    def dominator(address)
      above = @reached.grep(Integer).select { |each| each != address && held(each).include?(address) }
      above.min_by { |each| held(each).size }
    end

    def holder(address)
      held = held(address)
      Heap::Holder.new(object: @graph.objects[address], retained_objects: held.size, retained_bytes: bytes(held))
    end

    def largest(addresses, count)
      addresses.map { |address| holder(address) }
               .sort_by { |each| [-each.retained_bytes, each.object.address] }.first(count)
    end

    def group(key, members, retained = members)
      slots = members.sum { |address| @graph.objects[address].slot_bytes }
      Heap::Group.new(key: key, count: members.size, bytes: bytes(retained), slot_bytes: slots)
    end

    def bytes(addresses)
      addresses.grep(Integer).sum { |address| @graph.objects[address].bytes }
    end
  end

  # What HeapDump answers, of a Graph.
  class Dump
    attr_reader :name, :problems

    # definitions: Hash of a class's name to the Places::Location where it is defined
    def initialize(graph, name: "app.heap", problems: [], definitions: {}, **summary)
      @graph = graph
      @definitions = definitions
      @name = name
      @problems = problems
      @summary = summary
    end

    def summary
      objects = live
      lines = objects.filter_map(&:generation).minmax
      Heap::Summary.new(
        objects: objects.size, free_slots: 0, bytes: objects.sum(&:bytes), slot_bytes: objects.sum(&:slot_bytes),
        references: @graph.edges.values.sum(&:size), types: groups(objects, &:type), strings: strings,
        roots: @graph.edges.slice(*@graph.objects.keys.grep(String)).transform_values(&:size),
        generations: (Range.new(*lines) if lines.all?), traced: objects.count(&:file), shapes: 0, shape_bytes: 0,
        **@summary
      )
    end

    def histogram(by: :class)
      names = { class: :class_name, line: :location }
      groups(live) { |object| object.public_send(names.fetch(by, by)) || "(not traced)" }
    end

    def definition(class_name)
      @definitions[class_name]
    end

    def duplicate_strings(limit: 20)
      same = live.select { |object| object.type == "STRING" }.group_by(&:value).select { |_, each| each.size > 1 }
      rows = same.map do |value, each|
        Heap::DuplicateString.new(value: value, bytesize: each.first.length, count: each.size, bytes: each.sum(&:bytes),
                                  wasted_bytes: each.sum(&:bytes) - each.map(&:bytes).max)
      end
      rows.sort_by { |row| -row.wasted_bytes }.first(limit)
    end

    def object(address)
      @graph.objects[address]
    end

    def references(address, limit: 20)
      @graph.edges[address].first(limit).map { |to, name| reference(to, name) }
    end

    def referrers(address, limit: 20)
      found = @graph.edges.select { |_, refs| refs.key?(address) }.keys
      found.first(limit).map { |from| reference(from, @graph.edges[from][address]) }
    end

    def referrer_count(address)
      @graph.edges.values.count { |refs| refs.key?(address) }
    end

    def instances_of(class_name, limit: 20)
      live.select { |object| object.class_name == class_name }.map(&:address).first(limit)
    end

    def path(address)
      ways = @graph.objects.keys.grep(String).map { |root| [[root, nil]] }
      seen = []
      while (way = ways.shift)
        return way.map { |key, name| reference(key, name) } if way.last.first == address

        @graph.edges[way.last.first].each { |to, name| ways << [*way, [to, name]] unless seen.include?(to) }
        seen << way.last.first
      end
    end

    def dominators
      @dominators ||= Tree.new(@graph)
    end

    private

    def live
      @graph.objects.values.reject(&:root?)
    end

    def strings
      groups(live.select { |object| object.type == "STRING" }) { |object| object.embedded ? "embedded" : "own memory" }
    end

    def groups(objects, &)
      groups = objects.group_by(&).map do |key, each|
        Heap::Group.new(key: key, count: each.size, bytes: each.sum(&:bytes), slot_bytes: each.sum(&:slot_bytes))
      end
      groups.sort_by { |group| [-group.bytes, group.key.to_s] }
    end

    def reference(key, name)
      Heap::Reference.new(object: @graph.objects[key], name: name)
    end
  end

  # Sessions in a global Array, each with a cache of one String; a class with a constant; two equal Strings; garbage.
  def shop_graph
    Graph.new.tap do |graph|
      graph.root("vm", { 0x10 => nil })
      graph.root("global_tbl", { 0x20 => "$sessions" })
      graph.add(0x10, "CLASS", "Class", { 0x11 => "Shop" }, name: "Object", bytes: 640, slot_bytes: 160)
      graph.add(0x11, "CLASS", "Class", { 0x40 => "GREETING" }, name: "Shop", bytes: 640, slot_bytes: 160)
      graph.add(0x20, "ARRAY", "Array", { 0x21 => "[0]", 0x22 => "[1]" }, length: 2, file: "/srv/shop/boot.rb", line: 3,
                                                                          generation: 4)
      [0x21, 0x22].each { |address| session(graph, address) }
      graph.add(0x40, "STRING", "String", {}, value: "hello", length: 5, embedded: true, frozen: true)
      graph.add(0x50, "STRING", "String", {}, value: "hello", length: 5, embedded: true)
      graph.add(0x60, "STRING", "String", {}, value: "lost", length: 4, embedded: true)
    end
  end

  def session(graph, address)
    graph.add(address, "OBJECT", "Session", { address + 0x10 => "@cache" }, length: 1, generation: 41,
                                                                            file: "/srv/shop/app/session.rb", line: 12)
    pairs = { 0x50 => "[:greeting]", address + 0x60 => "[:page]" }
    graph.add(address + 0x10, "HASH", "Hash", pairs, length: 2, bytes: 168)
    graph.add(address + 0x60, "STRING", "String", {}, value: "<html>" * 200, length: 1200, bytes: 1240, generation: 41,
                                                      file: "/srv/shop/app/session.rb", line: 14)
  end

  def shop(**options)
    Dump.new(shop_graph, **options)
  end

  # A sheet as text for a screen of so many columns.
  def shown(sheet, columns: 110, directory: "/srv/shop", env: {})
    io = StringIO.new
    surroundings = { "COLUMNS" => columns.to_s, "LANG" => "C.UTF-8" }.merge(env)
    Heapline::Table::SheetText.new(directory: directory, env: surroundings).render(sheet, io)
    io.string
  end

  HOSTILE = "<script>\e[31m\u202e\0\n\"\\N"

  # A dump in which every name is hostile.
  def hostile
    graph = Graph.new
    graph.root(HOSTILE, { 0x10 => HOSTILE })
    graph.add(0x10, "OBJECT", HOSTILE, { 0x20 => HOSTILE }, file: HOSTILE, line: 1, label: HOSTILE, generation: 1)
    graph.add(0x20, "STRING", "String", {}, value: HOSTILE, length: 99)
    graph.add(0x30, "STRING", "String", {}, value: HOSTILE, length: 99)
    Dump.new(graph, name: HOSTILE, ruby: HOSTILE, problems: [HOSTILE],
                    definitions: { HOSTILE => Heapline::Places::Location.new(HOSTILE, 1) })
  end
end
