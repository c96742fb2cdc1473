# frozen_string_literal: true

require "test_helper"
require "support/answers"

# Heapline[…].each: the live blocks of a line, from within a process that keeps them.
class BlocksTest < Minitest::Test
  include Answers

  TAKE = <<~RUBY
    require "fiddle"
    take = ->(range) { range.map { |i| Fiddle.malloc(100_000 + i) } }
    taken = take[0...20]
    here = "\#{__FILE__}:\#{__LINE__ - 2}"
    mine = -> { Heapline[here].each.select { |bytes,| bytes >= 100_000 }.sort }
  RUBY

  def test_each_live_block_with_its_size_and_generation
    found = blocks(<<~RUBY)
      answer first: mine[].map(&:first) == (100_000...100_020).to_a, ages: mine[].map(&:last).uniq.size <= 2
      taken.shift(5).each { |block| Fiddle.free(block) }
      3.times { GC.start }
      young = take[100...101]
      ages = mine[].to_h
      answer rest: mine[].map(&:first) == [*100_005...100_020, 100_100], older: ages[100_100] - ages[100_005] >= 3
      addresses = Heapline.blocks(here).to_h { |block| [block.address, block.bytes] }
      answer addresses: addresses[taken.first] == 100_005 && addresses[young.first] == 100_100
    RUBY
    assert_equal({ first: true, ages: true, rest: true, older: true, addresses: true }, found)
  end

  # What is older than the baseline is listed as well, and by its thread.
  def test_baseline_thread_and_fork
    found = blocks(<<~RUBY)
      Heapline.clear
      others = Thread.new { take[50...51] and Thread.current.native_thread_id }.value
      old = -> { Heapline.blocks(here).select { |block| block.bytes.between?(100_000, 100_019) } }
      answer older: old[].size, own: old[].map(&:thread).uniq == [Process.pid]
      answer thread: Heapline.blocks(here).find { |block| block.bytes == 100_050 }.thread == others
      reader, writer = IO.pipe
      fork do
        Fiddle.free(taken.first)
        writer.puts old[].size
      end
      writer.close
      answer child: reader.read.to_i, parent: old[].size
    RUBY
    assert_equal({ older: 20, own: true, thread: true, child: 19, parent: 20 }, found)
  end

  # Other threads run while the copies are made, and their blocks come and go.
  def test_while_others_allocate
    found = blocks(<<~RUBY)
      busy = Array.new(3) { Thread.new { loop { Array.new(100) { |i| "x" * (i * 10) } } } }
      counts = Array.new(10) { Heapline.blocks(here).count { |block| block.bytes >= 100_000 } }
      busy.each(&:kill).each(&:join)
      answer counts: counts.uniq
    RUBY
    assert_equal({ counts: [20] }, found)
  end

  def test_it_needs_blocks
    found = ask("begin Heapline.blocks(\"x\") rescue answer(message: $!.message) end")
    assert_match(/blocks are not kept in this process: start it with HEAPLINE=blocks/, found[:message])
  end

  # The last one would be a block's if the word before it, which is the program's, were its size.
  WRONG_FREES = {
    "a block that was freed" => "Fiddle.free(block)",
    "an address inside a block" => "block = Fiddle.malloc(64)\n" \
                                   "Fiddle::Pointer.new(block)[8, 8] = [0x7fff_ffff_fff0].pack('Q')\n" \
                                   "Fiddle.free(block + 16)"
  }.freeze

  # The allocator sees them as it would without heapline.
  def test_wrong_frees
    WRONG_FREES.each do |what, text|
      file = script("require 'fiddle'\nblock = Fiddle.malloc(64)\nFiddle.free(block)\n#{text}\nputs 'alive'\n")
      command = [*ruby("-e", "Process.setrlimit(:CORE, 0); load ARGV[0]", file)]
      %w[blocks blocks,quarantine].each do |heapline|
        said = [plain(command), flight(command, heapline: heapline)].map do |run|
          [run.status.termsig, run.output, run.error.lines.first]
        end
        assert_equal said.first, said.last, "#{what}, #{heapline}"
      end
    end
  end

  private

  def blocks(text)
    ask(TAKE + text, heapline: "blocks")
  end
end
