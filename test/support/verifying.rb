# frozen_string_literal: true

require "heapline/accounting/flight"
require "heapline/accounting/flight_directory"
require "heapline/attach/session"
require "support/accounted"
require "support/native_programs"

# Programs whose threads keep blocks and look after them (test/programs/verifying.c, and one of Ruby), to be attached
# to and detached from.
module Verifying
  include Accounted

  # What it is told to do is nothing: it tells what the other one tells.
  RUBY = <<~RUBY
    $stdout.sync = true
    rounds = wrong = 0
    stop = false
    threads = Array.new(2) do |number|
      Thread.new do
        kept = []
        until stop
          place = (rounds * 7919) % 256
          wrong += 1 if kept[place] && kept[place].delete((place % 256).chr) != ""
          kept[place] = place.chr * (1 + (rounds * 31 + number) % 3000)
          rounds += 1
          sleep 0.001 if (rounds % 64).zero?
        end
      end
    end
    puts "ready"
    puts [rounds, wrong].join(" ") while $stdin.gets
    stop = true
    threads.each(&:join)
    puts "end"
    exit(wrong.zero?)
  RUBY

  Told = Struct.new(:pid, :input, :output) do
    # [how often it has looked, how often something was wrong]
    def tell(number = 0)
      input.puts(number)
      output.gets.split.map { |text| Integer(text) }
    end
  end

  # before: words of a command that becomes it
  def start_verifying(how = "", before: [])
    start_telling(*before, NativePrograms.program("verifying", "-lpthread"), how)
  end

  def start_verifying_ruby
    start_telling(RbConfig.ruby, program(RUBY))
  end

  def start_telling(*command)
    inside, input = IO.pipe
    output, outside = IO.pipe
    @processes << (pid = Process.spawn(environment, *command, in: inside, out: outside))
    [inside, outside].each(&:close)
    assert_equal "ready\n", output.gets
    Told.new(pid, input, output)
  end

  def session(told)
    Heapline::Attach::Session.new(told.pid, env: environment, timeout: Heapline::TestHelper::PATIENCE)
  end

  # What it is counted to have; its sums are right.
  def snapshot(told)
    entry = Heapline::Accounting::FlightDirectory.new(environment).find(told.pid)
    Heapline::Accounting::Flight.read(entry.path).tap do |all|
      assert_equal [all.live_blocks, all.live_bytes],
                   [all.allocations - all.frees, all.bytes_allocated - all.bytes_freed]
      assert_empty(all.select { |site| site.live_bytes.negative? || site.frees > site.allocations })
    end
  end

  def ends_as_it_would(told)
    assert_equal 0, told.tell.last, "what it kept was changed"
    told.input.close
    assert_equal "end\n", told.output.read
    told.output.close
    assert_predicate Process.wait2(told.pid).last, :success?
  end
end
