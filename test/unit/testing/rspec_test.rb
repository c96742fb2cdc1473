# frozen_string_literal: true

require "test_helper"
require "support/answers"

# The matchers, as RSpec calls them: beside Minitest in a process of their own.
class RSpecMatchersTest < Minitest::Test
  include Answers

  # RSpec lies where the tests' own gems do.
  GEMS = { "GEM_HOME" => Gem.dir, "GEM_PATH" => Gem.path.join(":") }.freeze
  SETUP = <<~RUBY
    begin
      require "heapline/rspec"
    rescue LoadError => error
      answer missing: error.message
      exit
    end
    require "fiddle"
    include RSpec::Matchers
    def said
      yield
      "passed"
    rescue RSpec::Expectations::ExpectationNotMetError => error
      error.message
    end
  RUBY

  def test_growth
    found = matched(<<~RUBY)
      answer clean: said { expect { "x" * 100 }.not_to grow_memory },
             wanted: said { expect { Fiddle.malloc(40) }.to grow_memory(iterations: 20) },
             leak: said { expect { Fiddle.malloc(40) }.not_to grow_memory },
             missed: said { expect { nil }.to grow_memory }
    RUBY
    assert_equal %w[passed passed], found.values_at(:clean, :wanted)
    assert_match(/\Aexpected the block not to grow memory: memory grew.*program\.rb:18/m, found[:leak])
    assert_equal "expected the block to grow memory, and it did not", found[:missed]
  end

  def test_memory
    found = matched(<<~RUBY)
      answer under: said { expect { "x" * 1000 }.not_to need_more_memory_than("1 MB") },
             over: said { expect { "x" * 2_000_000 }.not_to need_more_memory_than("1 MB") },
             missed: said { expect { nil }.to need_more_memory_than("1 MB") }
    RUBY
    assert_equal "passed", found[:under]
    assert_match(/not to need more memory than 1\.00 MB: the block needed 2\.\d\d MB at most/, found[:over])
    assert_match(/to need more memory than 1\.00 MB, and it did not/, found[:missed])
  end

  def test_allocations
    found = matched(<<~RUBY)
      answer few: said { expect { Object.new }.not_to allocate_more_than(1) },
             many: said { expect { Array.new(9) { Object.new } }.not_to allocate_more_than(1) },
             blocks: said { expect { Fiddle.malloc(40) }.to allocate_more_than(0, of: :blocks) }
    RUBY
    assert_equal %w[passed passed], found.values_at(:few, :blocks)
    assert_match(/not to allocate more than 1 objects: the block allocated 10 Ruby objects, more than 1/, found[:many])
  end

  def test_matchers_go_together
    found = matched(<<~RUBY)
      kept = []
      both = grow_memory.and allocate_more_than(0)
      answer both: said { expect { kept << "x" * 1000 }.to both }, description: both.description
    RUBY
    assert_equal "passed", found[:both]
    assert_equal "grow memory and allocate more than 0 objects", found[:description]
  end

  def test_without_the_preload
    text = "answer plain: [said { expect { nil }.not_to grow_memory }, said { expect { nil }.to grow_memory }], " \
           "objects: said { expect { nil }.not_to allocate_more_than(0) }"
    command = ruby("-I", Heapline::TestHelper::LIB, script(SPEAK + SETUP + text), gems: true)
    found = answers(plain(command, env: GEMS))
    assert(found[:plain].all? { |message| message.start_with?("heapline is not preloaded") }, found.inspect)
    assert_equal "passed", found[:objects]
    optional = answers(plain(command, env: { **GEMS, "HEAPLINE_OPTIONAL" => "1" }))
    assert_equal %w[passed passed], optional[:plain]
  end

  private

  def matched(text)
    answers(fly(SPEAK + SETUP + text, options: ["-I", Heapline::TestHelper::LIB], gems: true, env: GEMS))
  end

  def answers(run)
    answers_of(run).tap { |found| skip "RSpec is not installed: #{found[:missing]}" if found[:missing] }
  end
end
