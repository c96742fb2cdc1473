# frozen_string_literal: true

require "support/recorded"

# Programs that use the extension of test/programs/merging.c, recorded with C frames.
module MergedStacks
  include Recorded

  # The one line in front of a program. Merging.back is called by C.
  START = "module Merging\n  def self.back(size) = allocate(size == 2 ? 60_043 : size)\nend\n"

  # Each size of 60,001 to 60,099 that the program allocates => its stack, the outermost first: Ruby methods by name,
  # "block", "main", "eval"; functions of the extension as "C:name"; other libraries as "libc".
  def stacks(source, ruby: [], options: %w[--native])
    extension = NativePrograms.extension("merging")
    capture = record("require #{extension.dump}\n#{START}#{source}", *options, ruby: ruby, env: { HEAPLINE: "keep" })
    assert_predicate @status, :success?, @err
    assert_exact(capture)
    named(capture).transform_values do |stacks|
      assert_equal 1, stacks.size, "one stack for each size"
      stacks.first
    end
  end

  # The same of a capture: size => different stacks.
  def named(capture)
    births = capture.births.select { |event| (60_001..60_099).cover?(event.bytes) }
    births.group_by(&:bytes).transform_values do |events|
      events.map(&:stack).uniq.map { |stack| stack.map { |frame| plain_name(frame) } }
    end
  end

  # The name of a method of Ruby's own in a list where it has a frame: where it is written in Ruby. Which those are
  # differs by version and JIT: the VM itself is asked.
  def own(name, of, ruby: [])
    ask = "print #{of}.method(:#{name}).source_location&.first"
    file = IO.popen([RbConfig.ruby, *ruby, "--disable=gems", "-e", ask], &:read)
    file.start_with?("<internal:") ? [name] : []
  end

  private

  def plain_name(frame)
    extension = NativePrograms.extension("merging")
    label, place = frame.split("@", 2)
    library, offset = place.match(/\A(.*)\+(\d+)\z/)&.captures
    return ruby_name(label, place) unless library

    library == extension ? "C:#{function_at(extension, offset.to_i)}" : File.basename(library)[/\A[a-z]+/]
  end

  def ruby_name(label, place)
    case label
    when /\(eval/, /\A<compiled>/ then "eval"
    when /block/ then place.include?("(eval") ? "eval" : "block"
    when "<main>" then "main"
    else label[/\w+\z/] || label
    end
  end

  # offset: of a return address.
  def function_at(library, offset)
    @functions ||= IO.popen(["nm", library], &:readlines).filter_map do |line|
      address, kind, name = line.split
      [address.hex, name] if name && kind.casecmp?("t")
    end.sort
    @functions.reverse_each.find { |address, _| address < offset }.last
  end
end
