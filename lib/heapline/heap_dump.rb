# frozen_string_literal: true

require_relative "errors"
require_relative "heap_dump/comparing"
require_relative "heap_dump/compiled"
require_relative "heap_dump/extension"
require_relative "heap_dump/histogram"
require_relative "heap_dump/survey"
require_relative "model/heap"

module Heapline
  # Reads a heap dump: a file of ObjectSpace.dump_all of any Ruby or of heapline, plain, gzip or zstd. Opening it
  # reads it once, in little memory: that answers summary and histogram. What needs the graph of objects (object,
  # references, referrers, instances_of, path, dominators) makes an index first, which is of the size of the file at
  # most; who knows that it will be asked for opens with `index: true`, so that the file is read once only.
  class HeapDump
    # path: the file; "-": standard input, which can be read but once. index, strings: what will be asked for beyond
    # summary and histogram: the graph (true), or object, instances_of and compare alone (:objects); duplicate_strings;
    # code: compiled code (of a dump that heapline did not write that needs the graph, too).
    # progress: called with [bytes read, bytes in all or nil], at most 20 times a second. Raises Error where nothing can
    # be read.
    def self.open(path, index: false, strings: false, code: false, &progress)
      new(path, index: index, strings: strings, code: code, progress: progress)
    end

    # What grew from dump to dump; each may be a path or a HeapDump. by: as for histogram. With c: what was born between
    # a and b and is still in c. Returns a Model::Heap::Comparison.
    def self.compare(first, second, third = nil, by: :class, &progress)
      Comparing.new([first, second, third].compact, by, progress).comparison
    end

    # The path as it was given.
    attr_reader :name

    def initialize(path, index: false, strings: false, code: false, progress: nil)
      @name = path
      @progress = progress
      @native = Extension.dump_class.new(path)
      read(index: index, strings: strings, code: code)
      @survey = Survey.new(@native)
    end

    # Array of String: what could not be read.
    def problems
      @native.problems
    end

    def complete?
      problems.empty?
    end

    # Model::Heap::Summary.
    def summary
      @summary ||= @survey.summary
    end

    # Array of Model::Heap::Group, largest first. by: :class, :type, :line, :file, :gem or :generation
    def histogram(by: :class)
      Histogram.new(@survey).groups(by)
    end

    # Array of Model::Heap::DuplicateString: the values that waste most, at most `limit`.
    def duplicate_strings(limit: 20)
      read(strings: true) unless @native.strings?
      names = Model::Heap::DuplicateString.members
      @native.duplicate_strings(limit).map { |row| Model::Heap::DuplicateString.new(**names.zip(row).to_h) }
    end

    # Model::Code: the compiled code.
    def code
      read(code: true) unless @native.notes
      Compiled.new(@native, method(:index)).code
    end

    # The Model::Heap::Object at `address` (Integer), or nil.
    def object(address)
      row = objects.object(address)
      row && object_of(row)
    end

    # Array of Model::Heap::Reference: what the object refers to, in the dump's order.
    def references(address, limit: 20)
      references_of(index.references(address, limit))
    end

    # Array of Model::Heap::Reference: what refers to the object; instances of a class last.
    def referrers(address, limit: 20)
      references_of(index.referrers(address, limit))
    end

    # How many references lead to the object.
    def referrer_count(address)
      index.referrer_count(address)
    end

    # Array of addresses: the first `limit` instances of the class of this name, as histogram has it.
    def instances_of(class_name, limit: 20)
      objects.instances_of(class_name, limit)
    end

    # Array of Model::Heap::Step from a root to the object, the shortest there is; nil where nothing leads to it.
    def path(address)
      steps = index.path(address)
      steps&.map { |row, name| Model::Heap::Step.new(object: object_of(row), name: name) }
    end

    # Model::Heap::Dominators: made when it is first asked for.
    def dominators
      @dominators ||= begin
        index.dominate(&@progress) unless index.dominated?
        Model::Heap::Dominators.new(index, method(:object_of))
      end
    end

    private

    def read(index: false, strings: false, code: false)
      @native.read(index, strings, code, &@progress)
    end

    # The native reader with objects at least; who asks for one will ask for the graph.
    def objects
      @native.objects? ? @native : index
    end

    # The native reader with its index.
    def index
      read(index: true) unless @native.index?
      @native
    end

    def object_of(row)
      Model::Heap::Object.new(**Model::Heap::Object.members.zip(row).to_h)
    end

    def references_of(rows)
      rows.map { |row, name| Model::Heap::Reference.new(object: object_of(row), name: name) }
    end
  end
end
