# frozen_string_literal: true

require "heapline/objects/object_site"
require "heapline/native"

# Programs that account Ruby objects, and what their flight files tell of them. For tests with FlightRun.
module ObjectRows
  LIB = File.expand_path("../../lib", __dir__)

  # For programs that ask for their own figures.
  ASKING = <<~RUBY.freeze
    $LOAD_PATH.unshift(#{LIB.inspect})
    require "heapline/native"
    Native = Heapline::Native
    def rows(name) = Native.object_rows(Native.flight_fd, true).select { |row| row[1] == name }
  RUBY

  Row = Struct.new(:path, :line, :class_name, :type, :flags, :allocated, :freed, :bytes_allocated, :bytes_freed,
                   :allocated_since, :freed_old, :bytes_allocated_since, :bytes_freed_old, :age_sum, :age_max,
                   :temporary, :freed_since, :bytes_freed_since) do
    def live
      allocated - freed
    end
  end

  # Run a program with objects accounted from its start. The first line of `text` is line 1.
  def fly_objects(text, *arguments, heapline: "keep,objects", **options)
    fly(text, *arguments, heapline: heapline, **options)
  end

  # The Rows in a flight file.
  def object_rows(path)
    sites = Heapline::Native.read_flight(path, nil)[:sites].to_h { |site| [site[:number], site] }
    Heapline::Native.object_rows(path, nil).map do |number, class_name, type, *figures|
      type = Heapline::Objects::ObjectSite.type_name(type)
      Row.new(*sites.fetch(number).values_at(:path, :line), class_name, type, *figures)
    end
  end

  # [the rows of that class, summed by line (Hash), the run]
  def lines_of(class_name, run)
    object_rows(run.paths.fetch(0)).select { |row| row.class_name == class_name }.to_h { |row| [row.line, row] }
  end

  # What the header says of objects (Hash).
  def object_header(path)
    Heapline::Native.read_header(path).select { |name, _| name.start_with?("objects_") }
  end

  # Nothing was lost or guessed, of objects nor of blocks.
  def assert_complete(path)
    header = object_header(path)
    lost = header.slice(:objects_refused, :objects_untracked, :objects_mismatches, :objects_ractors)
    assert_empty(lost.reject { |_, count| count.zero? })
    sums = object_rows(path).reduce([0, 0]) { |(born, gone), row| [born + row.allocated, gone + row.freed] }
    assert_equal header.values_at(:objects_allocated, :objects_freed), sums
    assert_live_identity([path])
  end
end
