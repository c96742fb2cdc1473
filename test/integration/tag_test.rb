# frozen_string_literal: true

require "test_helper"
require "support/answers"

# Labels in real processes under accounting.
class TagIntegrationTest < Minitest::Test
  include Answers

  BY_TAG = "answer(**Heapline.snapshot.group_by(:tag).to_h { |name, site| [(name || :none).to_sym, site.live_bytes] })"

  # A GC that begins under a label keeps a stack of its own there while it marks. A page that Ruby takes for its objects
  # may fall on any line: the 1,736 bytes in which 3.4 describes it are then this line's.
  def test_the_innermost_label_owns_and_nil_takes_it_away
    found = ask(<<~RUBY)
      GC.disable
      Heapline.tag("outer") do
        A = "a" * 100_000
        Heapline.tag("inner") { B = "b" * 200_000 }
        Heapline.tag(nil) { C = "c" * 4_000_000 }
        D = "d" * 300_000
      end
      #{BY_TAG}
    RUBY
    assert_in_delta 400_000, found[:outer], 5000
    assert_in_delta 200_000, found[:inner], 5000
    assert_operator found[:none], :>=, 4_000_000
  end

  def test_a_label_ends_with_its_block_whichever_way
    found = ask(<<~RUBY)
      begin; Heapline.tag("raised") { raise "out" }; rescue RuntimeError; end
      catch(:out) { Heapline.tag("thrown") { throw :out } }
      killed = Thread.new { Heapline.tag("killed") { sleep } }
      Thread.pass until killed.stop?
      killed.kill.join
      A = "a" * 3_000_000
      B = Thread.new { "b" * 2_000_000 }.value
      #{BY_TAG}
    RUBY
    %i[raised thrown killed].each { |name| assert_operator found.fetch(name, 0), :<, 100_000, name.to_s }
    assert_operator found[:none], :>=, 5_000_000
  end

  # From Ruby 3.3 on, Thread.new itself allocates the new thread's VM stack, 1 MiB: that is the label's.
  def test_a_thread_begins_without_a_label
    found = ask(<<~RUBY)
      Heapline.tag("request") { A = Thread.new { "a" * 20_000_000 }.value }
      #{BY_TAG}
    RUBY
    assert_operator found.fetch(:request, 0), :<, 1_500_000
    assert_operator found[:none], :>=, 20_000_000
  end

  # With M:N, Ruby threads go on on other native threads: label and quiet go with them. None ends: see
  # attribution_test.rb.
  def test_labels_stay_with_threads_that_change_their_native_thread
    skip "no M:N threads before Ruby 3.3" if RUBY_VERSION < "3.3"

    found = ask(<<~RUBY, env: { "RUBY_MN_THREADS" => "1" })
      def in_threads = 8.times { Thread.new { MADE << yield; sleep } }
      MADE = Queue.new
      in_threads { Heapline.tag("tagged") { Array.new(100) { sleep(0.001); "t" * 3_000 } } }
      in_threads { Array.new(100) { sleep(0.001); "p" * 3_000 } }
      in_threads { Heapline.quiet { Array.new(100) { sleep(0.001); "q" * 3_000 } } }
      KEPT = Array.new(24) { MADE.pop }
      lines = Heapline.snapshot.select { |site| site.location.path&.end_with?("program.rb") && !site.location.via }
      answer(**lines.group_by { |site| "\#{site.tag || :none}\#{site.location.lineno}".to_sym }
                    .transform_values { |sites| sites.sum { |site| site.live_bytes / 1000 } })
      $stdout.flush
      exit!(true)
    RUBY
    assert_operator found.fetch(:tagged4), :>=, 2400
    assert_operator found.fetch(:none5), :>=, 2400
    assert_operator found.fetch(:tagged5, 0), :<, 300
    assert_operator found.fetch(:none6, 0), :<, 300
    assert_operator found.fetch(:tagged6, 0), :<, 300
  end

  # A tenant each, on one line: none is taken for another, and none goes to (other). Some also ask for a page of the
  # object heap.
  def test_many_labels
    found = ask(<<~RUBY)
      KEPT = Array.new(20_000) { |n| Heapline.tag("tenant \#{n}") { "t" * (1_000 + n) } }
      tags = Heapline.snapshot.group_by(:tag)
      more = KEPT.each_index.map { |n| (tags["tenant \#{n}"]&.live_bytes || 0) - 1_000 - n }
      answer(right: more.count { |bytes| bytes.between?(0, 200) }, less: more.count(&:negative?), other: tags.key?("(other)"))
    RUBY
    assert_operator found[:right], :>=, 19_800
    assert_equal({ less: 0, other: false }, found.slice(:less, :other))
  end

  # Less than a block: nothing keeps a GC, which takes some blocks of 4 kB, from beginning under a label of these.
  NEARLY = 50_000

  def test_the_rack_middleware_labels_requests
    found = ask(<<~RUBY, loads: "heapline/rack")
      KEPT = []
      app = Heapline::Rack.new(->(env) { KEPT << "r" * 100_000; [200, {}, []] })
      10.times { |number| app.call("REQUEST_METHOD" => "GET", "PATH_INFO" => "/orders/\#{number}") }
      #{BY_TAG}
    RUBY
    assert_in_delta 1_000_000, found[:"GET /orders/:id"], NEARLY
  end

  def test_the_sidekiq_middleware_labels_jobs
    found = ask(<<~RUBY, loads: "heapline/sidekiq")
      KEPT = []
      Heapline::Sidekiq.new.call(Object.new, { "class" => "HardJob" }, "default") { KEPT << "j" * 1_000_000 }
      #{BY_TAG}
    RUBY
    assert_in_delta 1_000_000, found[:HardJob], NEARLY
  end
end
