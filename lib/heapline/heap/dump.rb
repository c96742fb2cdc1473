# frozen_string_literal: true

require_relative "../extension"
require_relative "code"
require_relative "comparison"
require_relative "dominators"
require_relative "object"
require_relative "survey"

module Heapline
  # Reads a heap dump: a file of ObjectSpace.dump_all of any Ruby or of heapline, plain, gzip or zstd. Opening it
  # reads it once, in little memory: that answers summary and histogram. What needs the graph of objects (object,
  # references, referrers, instances_of, path, dominators) makes an index first, which is of the size of the file at
  # most; who knows that it will be asked for opens with `index: true`, so that the file is read once only.
  class HeapDump
    # The class Heapline::Native::HeapDump. Raises Error where there is none.
    def self.native
      Extension.load(:heap)
      Native::HeapDump
    end

    # path: the file; "-": standard input, which can be read but once. index, strings: what will be asked for beyond
    # summary and histogram: the graph (true), or object, instances_of and compare alone (:objects); duplicate_strings;
    # code: compiled code (of a dump that heapline did not write that needs the graph, too).
    # progress: called with [bytes read, bytes in all or nil], at most 20 times a second. Raises Error where nothing can
    # be read. name: what it is called, where that is not the path.
    def self.open(path, index: false, strings: false, code: false, name: path, &progress)
      new(path, index: index, strings: strings, code: code, name: name, progress: progress)
    end

    # What grew from dump to dump; each may be a path or a HeapDump. by: as for histogram. With c: what was born between
    # a and b and is still in c. Returns a Heap::Comparison.
    def self.compare(first, second, third = nil, by: :class, &progress)
      Heap::Survey.check(by)
      dumps = [first, second, third].compact.map do |dump|
        dump.is_a?(self) ? dump : self.open(dump, index: :objects, &progress)
      end
      Heap::Comparison.of(dumps, by, *native.compare(*dumps.map { |dump| dump.send(:objects) }))
    end

    # The path as it was given, or what it is called instead.
    attr_reader :name

    def initialize(path, index: false, strings: false, code: false, name: path, progress: nil)
      @name = name
      @progress = progress
      @native = self.class.native.new(path)
      read(index: index, strings: strings, code: code)
      @survey = Heap::Survey.new(@native)
    end

    # Array of String: what could not be read.
    def problems
      @native.problems
    end

    def complete?
      problems.empty?
    end

    # Heap::Summary.
    def summary
      @summary ||= @survey.summary
    end

    # Array of Heap::Group, largest first. by: :class, :type, :line, :file, :gem or :generation
    def histogram(by: :class)
      @survey.groups(by)
    end

    # Where the class with this name in the histogram is defined (Places::Location with path and lineno); nil where the
    # dump does not tell. Only dumps by heapline do.
    def definition(class_name)
      @survey.definition(class_name)
    end

    # Array of Heap::DuplicateString: the values that waste most, at most `limit`.
    def duplicate_strings(limit: 20)
      read(strings: true) unless @native.strings?
      names = Heap::DuplicateString.members
      @native.duplicate_strings(limit).map { |row| Heap::DuplicateString.new(**names.zip(row).to_h) }
    end

    # Heap::Code: the compiled code.
    def code
      read(code: true) unless @native.notes
      notes = @native.notes
      return Heap::Code.parse(notes, name: name, problems: problems) if notes.include?('"HEAPLINE_CODE"')

      Heap::Code.of_rows(index.code_rows, problems: problems, **@native.totals.slice(:pid, :ruby))
    end

    # The Heap::Object at `address` (Integer), or nil.
    def object(address)
      row = objects.object(address)
      row && object_of(row)
    end

    # Array of Heap::Reference: what the object refers to, in the dump's order.
    def references(address, limit: 20)
      references_of(index.references(address, limit))
    end

    # Array of Heap::Reference: what refers to the object; instances of a class last.
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

    # Array of Heap::Reference, the steps from a root to the object, the shortest way there is; nil where nothing
    # leads to it. The first is the root.
    def path(address)
      steps = index.path(address)
      steps && references_of(steps)
    end

    # Heap::Dominators: made when it is first asked for.
    def dominators
      @dominators ||= begin
        index.dominate(&@progress) unless index.dominated?
        Heap::Dominators.new(index, method(:object_of))
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
      Heap::Object.new(**Heap::Object.members.zip(row).to_h)
    end

    def references_of(rows)
      rows.map { |row, name| Heap::Reference.new(object: object_of(row), name: name) }
    end
  end
end
