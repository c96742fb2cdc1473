# frozen_string_literal: true

require "test_helper"
require "support/flight_run"
require "support/taken"

# Which Ruby line asked for a block: each line takes blocks of a size that no other takes.
class AttributionTest < Minitest::Test
  include FlightRun
  include Taken

  # The variables of a class, among which Ruby 3.2 keeps its name, move while each line is seen for the first time.
  def test_variables_of_classes_that_move
    [nil, "blocks"].each do |options|
      run = fly(<<~RUBY, heapline: options)
        60.times do |k|
          lines = Array.new(24) { |i| "@v\#{i} = \#{i}" }
          eval("class X\#{k}\n def self.go\n\#{lines.join("\n")}\n end\nend\nX\#{k}.go", TOPLEVEL_BINDING, "x\#{k}.rb")
        end
        puts "whole"
      RUBY
      assert_equal "whole\n", run.output
    end
  end

  def test_methods_blocks_and_procs
    assert_taken(<<~RUBY)
      def method_of_main
        take 7001
      end
      method_of_main
      class Holder
        def self.singleton = take(7002)
        define_method(:defined) { take 7003 }
        attr_writer :never
        def with_block
          yield(
            1
          )
        end
      end
      Holder.singleton
      Holder.new.defined
      Holder.new.with_block { take 7004 }
      [1].each do |_|
        [2].map { |_|
          take 7005
        }
      end
      a_lambda = lambda do
        take 7006
      end
      a_lambda.call
      :take.to_proc.call(Taker, 7007)
      method(:take).to_proc.call(7008)
      [3].each(&proc { take 7009 })
      begin
        raise "no"
      rescue RuntimeError
        take 7010
      ensure
        take 7011
      end
      take(
        7012 # at: program.rb:-1
      )
      while (take 7013) && !@done do @done = true end
      send(:take, 7014)
      instance_exec { take 7015 }
      BEGIN { $began = true }
      catch(:out) { take 7016; throw :out }
      take 7017 if __LINE__.positive?
      1.then { take 7018 }
      ObjectSpace.respond_to?(:each_object) && take(7019)
      END { take 7020 }
      at_exit { take 7021 }
      refined = Module.new { refine(Integer) { def taken = Taker.take(7022) } }
      using refined
      1.taken
      def rest(*, key: take(7023)) = key
      rest
    RUBY
  end

  def test_fibers_threads_and_enumerators
    assert_taken(<<~RUBY)
      fiber = Fiber.new { take 7101; Fiber.yield; take 7101 }
      2.times { fiber.resume }
      Thread.new do
        take 7102
        Fiber.new { take 7103 }.resume
      end.join
      20.times.map { Thread.new { 50.times { take 7104 } } }.each(&:join)
      each = Enumerator.new { |y| take 7105; y << 1 }
      each.next
      each.lazy.map { |_| take 7106 }.first
      outer = Fiber.new { Fiber.new { take 7107 }.resume; take 7107 }
      outer.resume
      100.times { Fiber.new { take 7108 }.resume }
      100.times { Thread.new { take 7109 }.join }
      GC.start
      100.times { |i| Thread.new { i.odd? ? take(7110) : Fiber.new { take 7110 }.resume }.join }
    RUBY
  end

  # Where two Ractors make fibers at the same time, Rubies before 4.0 crash alone, now and then (3.1.2 in 2 of 3,000
  # runs, 3.2.11 in 9 of 2,100, 3.3.8 in 2 of 1,000): there each waits for the one before.
  def test_ractors
    assert_taken(<<~RUBY)
      Warning[:experimental] = false
      def value_of(ractor) = ractor.respond_to?(:value) ? ractor.value : ractor.take
      4.times.map { Ractor.new { 100.times { Taker.take 7201 } } }.each { |ractor| value_of(ractor) }
      4.times.each_slice(#{RUBY_VERSION < "4.0" ? 1 : 4}) do |at_once|
        ractors = at_once.map { Ractor.new { Fiber.new { Taker.take 7203 }.resume } }
        ractors.each { |ractor| value_of(ractor) }
      end
    RUBY
  end

  def test_threads_in_ractors
    skip "Ruby #{RUBY_VERSION} alone often hangs in this program" if %w[3.3 3.4].include?(RUBY_VERSION[/\d+\.\d+/])

    assert_taken(<<~RUBY)
      Warning[:experimental] = false
      ractors = Array.new(4) { Ractor.new { Thread.new { Taker.take 7211 }.join && nil } }
      ractors.each { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
    RUBY
  end

  # No thread ends, and Ruby does not clean up: in that, plain Ruby crashes now and then (3.3.8 in 2 of 1,000 runs,
  # 3.4.11 in 1 of 1,000, 4.0.1 in 15 of 700), and without it in 0 of 5,000.
  def test_threads_over_native_threads
    skip "Ruby #{RUBY_VERSION} has no M:N threads" if RUBY_VERSION < "3.3"

    assert_taken(<<~RUBY, env: { "RUBY_MN_THREADS" => "1", "RUBY_MAX_CPU" => "2" })
      done = Queue.new
      60.times do
        Thread.new do
          10.times { take 7301; Thread.pass }
          sleep 0.001
          Fiber.new { take 7302 }.resume
          Taker.unlocked 7303
          done << true
          sleep
        end
      end
      60.times { done.pop }
      exit!(true)
    RUBY
  end

  def test_evaluated_code
    assert_taken(<<~'RUBY')
      require "erb"
      eval "take 7401", binding, "given.rb", 77 # at: given.rb:77
      String.class_eval "def taken_here = Taker.take(7402)", "classes/of.rb", 12 # at: classes/of.rb:12
      "".taken_here
      instance_eval "\n\ntake 7403", "instance.rb", 5 # at: instance.rb:7
      template = ERB.new("first\n<% take 7404 %>\n") # at: page.erb:2
      template.filename = "page.erb"
      template.result(binding)
      ERB.new("\n\n<%= take 7405 %>").tap { |erb| erb.location = ["other.erb", 10] }.result(binding) # at: other.erb:13
      RubyVM::InstructionSequence.compile("\nTaker.take 7406", "compiled.rb", "/real/compiled.rb", 30).eval # at: compiled.rb:31
      5.times { |i| eval("take 7407", binding, "again.rb", 3) } # at: again.rb:3
      Object.new.instance_eval { eval("take(7408)", TOPLEVEL_BINDING, "top.rb", 9) } # at: top.rb:9
      eval "take 7409", binding, "below.rb", -1 # at: below.rb:0
      eval "take 7410", binding, "zero.rb", 0 # at: zero.rb:0
      eval "\n\ntake 7411", binding, "up.rb", -1 # at: up.rb:1
    RUBY
  end

  # Each box has classes and globals of its own; files and lines are those of all.
  def test_code_in_boxes
    skip "Ruby #{RUBY_VERSION} has no boxes" if RUBY_VERSION < "4.0"

    script("def in_box = ($kept = 'b' * 323_457)\nin_box\n", name: "boxed.rb")
    run = fly("Ruby::Box.new.require(File.join(__dir__, 'boxed.rb'))\n$kept = 'h' * 423_457\n",
              options: ["-W0"], env: { "RUBY_BOX" => "1" })
    assert run.status.success?, run.error
    { "boxed.rb:1" => 323_457, "program.rb:2" => 423_457 }.each do |place, size|
      sites = run.snapshot.select { |site| site.location.to_s.end_with?("/#{place}") }
      assert_in_delta size, sites.sum(&:bytes_allocated), 90_000, place
    end
  end

  def test_required_files
    script("take 7501\ndef from_required = take(7502)\nrequire_relative 'second'\n", name: "first.rb")
    script("take 7503\n", name: "second.rb")
    assert_taken("require_relative 'first'\nfrom_required\nload File.join(__dir__, 'second.rb')\n",
                 expect: { "first.rb:1" => 7501, "first.rb:2" => 7502, "second.rb:1" => 7503 })
  end

  def test_without_the_gvl
    assert_taken(<<~RUBY)
      Taker.unlocked 7601
      Thread.new { Taker.unlocked 7602 }.join
      Fiber.new { Taker.unlocked 7603 }.resume
      eval("Taker.unlocked 7604", binding, "fresh.rb", 41) # at: fresh.rb:41
      threads = 4.times.map { Thread.new { 200.times { Taker.unlocked 7605 } } }
      50.times { GC.start(full_mark: false) }
      threads.each(&:join)
    RUBY
  end

  def test_another_library_is_named
    run = fly("require #{taker.inspect}\nTaker.duplicate 777\nTaker.native 7701\nTaker.take 7702\n")
    places = [777, 7701, 7702].map { |size| run.snapshot.find { |site| site.bytes_allocated == size }&.location }
    assert_match(/program\.rb:2 via libc[.-]/, places[0].name, "strdup: libc asked")
    assert_equal %w[taker.so taker_native_thread], [places[1].library, places[1].symbol]
    assert_match(/program\.rb:4 via taker\.so/, places[2].name)
  end
end
