# frozen_string_literal: true

require_relative "native_programs"

# Checks where blocks were attributed to, for programs whose lines take blocks of sizes of their own (taker.c). The
# program says by itself what is expected: each number from 7000 to 7999 in it is a size, taken at the number's line, or
# where a comment says so: "# at: page.erb:2", or "# at: program.rb:-1" for lines away from its own.
module Taken
  PRELUDE = "require %s; extend Taker; include Taker; "
  SIZE = /\b7\d\d\d\b/

  # Blocks, methods, eval, threads, fibers, without the GVL; who runs it says before it how to `compact`.
  EVERYWHERE = <<~'RUBY'
    def in_a_method
      take 7901
    end
    class Holder
      def self.singleton = Taker.take(7902)
      define_method(:defined) { Taker.take 7903 }
    end
    20.times { |i|
      in_a_method
      Holder.singleton
      Holder.new.defined
      [1].map { |_|
        [2].each { take 7904 }
      }
      eval "\ntake 7905", binding, "given.rb", 20 # at: given.rb:21
      Thread.new {
        take 7906
        Fiber.new { take 7907 }.resume
      }.join
      Taker.unlocked 7908
      GC.start if i == 10
      compact if i == 15
    }
  RUBY

  def taker
    NativePrograms.extension("taker")
  end

  # Run the program, and check that each size was taken where it is expected, all of it, and nowhere else.
  # Returns the run.
  def assert_taken(text, expect: expectations(text), **options)
    run = fly(format(PRELUDE, taker.inspect) + text, **options)
    assert run.status.success?, "#{run.error}\n#{run.output}"
    snapshot = run.snapshot
    refute_empty expect
    wrong = expect.reject { |place, size| right?(snapshot, place, size) }
    assert_empty wrong, "not where they belong; #{places_of(snapshot, wrong.values)}"
    run
  end

  private

  def expectations(text)
    text.lines.each_with_index.with_object({}) do |(line, index), expected|
      code, place = line.split("# at: ")
      sizes = code.scan(SIZE).map(&:to_i).uniq
      sizes.each { |size| expected[place_of(place, index + 1)] = size }
    end
  end

  def place_of(comment, line)
    return "program.rb:#{line}" unless comment

    comment = comment.strip
    away = comment[/:(-\d+)\z/, 1]
    away ? comment.sub(/:-\d+\z/, ":#{line + away.to_i}") : comment
  end

  # All that the extension took at this place was of this size, and something was.
  def right?(snapshot, place, size)
    sites = snapshot.select { |site| site.location.library == "taker.so" && here?(site, place) }
    sites.any? && sites.all? { |site| site.bytes_allocated == site.allocations * size }
  end

  def here?(site, place)
    at = site.location.to_s
    at == place || at.end_with?("/#{place}")
  end

  # What the extension took at lines that are told.
  def told(snapshot)
    snapshot.select { |site| site.location.library == "taker.so" && site.location.path }
  end

  # Of these, what does not belong there.
  def told_elsewhere(snapshot, expected)
    told(snapshot).reject do |site|
      expected.any? { |place, size| here?(site, place) && site.bytes_allocated == site.allocations * size }
    end
  end

  # Where the extension's blocks of about these sizes went, for the message.
  def places_of(snapshot, sizes)
    sites = snapshot.select { |site| site.location.library == "taker.so" }
    found = sites.map { |site| "#{site.location} #{site.bytes_allocated.fdiv(site.allocations)} ×#{site.allocations}" }
    "expected #{sizes.inspect}, found:\n#{found.sort.join("\n")}"
  end
end
