# frozen_string_literal: true

require "test_helper"
require "support/answers"
require "support/recorded"

# Methods of Ruby's own that are written in Ruby (`<internal:array>`) allocate on behalf of the line that called them,
# as in Ruby's own backtraces. Which those are differs by version and JIT: the VM itself is asked.
class InternalFramesTest < Minitest::Test
  include Answers
  include Recorded

  # Each JIT that this Ruby has, and none.
  JITS = [[], *%w[--yjit --zjit].map { |jit| [jit] }].select do |options|
    system(RbConfig.ruby, *options, "-e", "1", out: File::NULL, err: File::NULL)
  end

  # Each line allocates blocks of far more bytes than it would without the call, in the method itself.
  PLANTED = <<~RUBY
    LIST = Array.new(9_000) { |i| i }
    def run
      @map = LIST.map(&:itself)
      @collect = LIST.collect { |each| each }
      @select = LIST.select(&:itself)
      @filter = LIST.filter { |each| each }
      @in_c = LIST.each_slice(1).map(&:first)
      @shuffle = LIST.shuffle
      @sample = LIST.sample(9_000)
      @pack = LIST.pack("L*x40000")
      @unpack = ("a" * 9_000).unpack("C*")
      @load = Marshal.load(Marshal.dump(LIST))
      @nested = 1.then { LIST }.then { |list| list.map(&:itself) }
      @required = require(ENV.fetch("REQUIRED"))
      @times = 9_000.times.map { |each| each }
    end
    run
  RUBY

  # Calls what is called without risk on objects of each class, in a thread each that may be cut short.
  EACH_METHOD = <<~RUBY
    OBJECTS = [[1, 2, 3], { a: 1 }, "text", :name, 7, 1.5, nil, Object.new, 2r, 1i, Dir.new("/"), File.open("/dev/null"), Time.now,
               Queue.new, SizedQueue.new(1), Mutex.new, Thread::ConditionVariable.new, Kernel, GC, Dir, Marshal, Time,
               ObjectSpace, TracePoint.new(:raise) {}, binding, Object, Class, Comparable]
    OBJECTS << Pathname("/dev/null/at all") if defined?(Pathname)
    # (initialize: 4.1-dev crashes without heapline too where a Queue that has something is initialized once more.)
    NEVER = /initialize|irb|stress|receive|recv|take|yield|select|simulate|induce|compact|trace|dump|print|jit|ractor|exit|Ractor|_activated|
             _require|new_cond|wait|sleep|rmdir|mkdir|unlink|delete|rename|open|link|truncate|chmod|chown/x
    def internal?(method) = method.source_location&.first.to_s.start_with?("<internal:")
    def names(object)
      all = object.methods + object.private_methods + object.singleton_methods
      all.uniq.select { |name| internal?(Kernel.instance_method(:method).bind_call(object, name)) && !NEVER.match?(name.name) }
    end
    def call(object, name, arguments)
      times = 0
      object.__send__(name, *arguments) { |each| (times += 1) > 5 ? raise(StopIteration) : each }
    rescue Exception
      nil
    end
    out = $stdout.dup
    [$stdout, $stderr].each { |io| io.reopen(File::NULL, "w") }
    called = OBJECTS.flat_map do |object|
      names(object).each do |name|
        [[], [2], ["C*"], [1, 2]].each do |arguments|
          thread = Thread.new { call(object, name, arguments) }
          thread.report_on_exception = false
          Thread.pass until thread.stop?
          thread.kill
        end
      end
    end
    out.puts called.uniq.size
  RUBY

  def test_planted_bytes_and_labels
    JITS.each do |jit|
      snapshot = fly_planted(jit).snapshot
      PLANTED.lines.each.with_index(1).grep(/^  @/) do |line, number|
        site = snapshot.find { |each| each.location.lineno == number && each.location.to_s.include?("program.rb") }
        assert_operator site&.bytes_allocated.to_i, :>, 30_000, "#{jit} #{number} #{line}"
      end
      assert_empty internal(snapshot, jit), jit.inspect
    end
  end

  def test_the_label_is_that_of_the_method_that_the_line_called
    needs_labels
    labels = fly_planted([]).snapshot.to_h { |site| [site.location.to_s, site.location.label] }
    assert_equal "Array#shuffle", labels[place_of("@shuffle")]
    assert_equal "Array#pack", labels[place_of("@pack")]
    assert_includes ["Array#map", "Object#run"], labels[place_of("@map")] # in C without a JIT
  end

  def test_each_method_that_the_vm_has_in_ruby
    JITS.each do |jit|
      run = fly(EACH_METHOD, options: jit, heapline: "keep,objects")
      assert run.status.success?, run.error
      assert_operator run.output.to_i, :>, 20
      assert_empty internal(run.snapshot, jit), jit.inspect
    end
  end

  # With RubyGems `require` is one of them.
  def test_require_of_rubygems
    needs_labels
    run = fly("def run = require(ENV.fetch('REQUIRED'))\nrun\n", env: { "REQUIRED" => required }, gems: true)
    site = run.snapshot.select { |each| each.location.to_s == File.join(workplace, "program.rb:1") }
              .max_by(&:bytes_allocated)
    assert_equal "Kernel#require", site.location.label
    assert_operator site.bytes_allocated, :>, 100_000
  end

  # What loading took for a line is apart from what the line itself holds.
  def test_a_line_that_makes_ruby_load_a_file
    needs_labels
    run = fly("autoload :Loaded, ENV.fetch('REQUIRED')\n@held = [(Loaded rescue 1), 'x' * 70_001]\n",
              env: { "REQUIRED" => required }, gems: true)
    sites = run.snapshot.select { |each| each.location.to_s == File.join(workplace, "program.rb:2") }
    loading, own = sites.partition { |each| each.location.label == "Kernel#require" }
    assert_operator loading.sum(&:bytes_allocated), :>, 100_000
    assert_includes 70_000..100_000, own.sum(&:live_bytes)
  end

  # Where these are C code: require_relative, and under Bundler require. (Ruby allocates at a line before it calls one
  # for the first time, and that stands for the line.)
  IN_C = <<~RUBY
    Kernel.define_method(:require, Kernel.instance_method(:gem_original_require))
    require "English"; require_relative "other"
    @required = [require(File.expand_path("required.rb")), "x" * 70_001]
    @relative = [require_relative("relative.rb"), "x" * 70_001]
  RUBY

  def test_require_in_c
    needs_labels
    script("", name: "other.rb")
    script(File.read(required), name: "relative.rb")
    run = fly(IN_C, chdir: workplace, gems: true)
    assert run.status.success?, run.error
    [3, 4].each do |line|
      sites = run.snapshot.select { |each| each.location.to_s == File.join(workplace, "program.rb:#{line}") }
      loading, own = sites.partition { |each| each.location.stage }
      assert_equal ["<main> (loading)"], loading.map { |each| each.location.label }.uniq
      assert_operator loading.sum(&:bytes_allocated), :>, 1_000_000
      assert_includes 70_000..150_000, own.sum(&:live_bytes) # with what was asked for before the call was known
    end
  end

  DSL = <<~RUBY
    module Dsl
      def self.added = (@added ||= [])
      def attribute(size)
        Dsl.added << ("x" * size)
      end
    end
  RUBY

  # 20 bodies of classes call a gem's line, and then the program does.
  USES_DSL = <<~RUBY
    require ENV.fetch("DSL")
    20.times do |i|
      File.write("cart\#{i}.rb", "class Cart\#{i}; extend Dsl\nattribute 9_001\nOWN = 'x' * 18_002\nend\n")
      require File.expand_path("cart\#{i}.rb")
    end
    class Main
      extend Dsl
      10.times { attribute 9_001 }
    end
    extend Dsl
    10.times { attribute 9_001 }
  RUBY

  # What a gem's line takes for the body of a class that is loaded is in the row of loading; what it takes when the
  # program calls it is not, nor is what a line of the application keeps.
  def test_bodies_that_are_loaded
    needs_labels
    file = File.join(workplace, "gems/dsl-1.0/dsl.rb").tap { |path| FileUtils.mkdir_p(File.dirname(path)) }
    File.write(file, DSL)
    JITS.each do |jit|
      run = Dir.chdir(workplace) { fly(USES_DSL, options: jit, env: { "DSL" => file }) }
      assert run.status.success?, run.error
      live = run.snapshot.select { |site| site.location.to_s == "#{file}:4" }
                .group_by { |site| site.location.stage }.transform_values { |sites| sites.sum(&:live_bytes) }
      assert_equal ["(loading)", nil], live.keys.sort_by(&:to_s).reverse, jit.inspect
      live.each { |stage, bytes| assert_in_delta 20 * 9_001, bytes, 9_000, "#{jit} #{stage}" }
      own = run.snapshot.select { |site| site.location.to_s.match?(/cart\d+\.rb:3/) }
      assert_in_delta 20 * 18_002, own.reject { |site| site.location.stage }.sum(&:live_bytes), 9_000
    end
  end

  def test_the_public_way
    run = fly_planted(JITS.last, heapline: "keep,api")
    places = run.snapshot.map { |site| site.location.to_s }
    assert_empty internal(run.snapshot, JITS.last)
    %w[@shuffle @pack @required @map].each { |name| assert_includes places, place_of(name) }
  end

  def test_they_are_shown_where_it_is_asked_for
    paths = fly_planted([], heapline: "keep,internal").snapshot.map { |site| site.location.path }
    assert_includes paths, "<internal:array>"
    assert_includes paths, "<internal:pack>"
  end

  # The stacks of recordings: one frame for all that the line called, at the line.
  def test_recorded_stacks
    needs_labels
    capture = record(PLANTED, env: { "REQUIRED" => required })
    assert_predicate @status, :success?, @err
    stacks = capture.births.map(&:stack).uniq.select { |stack| stack.first.to_s.match?(/@(?!<internal:)/) }
    assert_empty stacks.flatten.grep(/@<internal:/)
    stack = capture.births.find { |event| event.stack.last.to_s.start_with?("Array#shuffle@") }.stack
    line = line_of("@shuffle")
    assert_equal ["Object#run:#{line}", "Array#shuffle:#{line}"], (stack.last(2).map { |frame| frame.sub(/@.*:/, ":") })
  end

  private

  def fly_planted(jit, **others)
    run = fly(PLANTED, options: jit, env: { "REQUIRED" => required }, **others)
    assert run.status.success?, run.error
    run
  end

  # A file of which the code alone takes much memory.
  def required
    code = (1..400).map { |i| "def generated_#{i}(a, b) = [a, b, a + b, a * b].map { |each| each + #{i} }.sum\n" }
    script(code.join, name: "required.rb")
  end

  def place_of(text)
    "#{File.join(workplace, "program.rb")}:#{line_of(text)}"
  end

  def line_of(text)
    PLANTED.lines.index { |line| line.include?(text) } + 1
  end

  # Of Rubies that heapline does not know it has no labels, and so no stacks.
  def needs_labels
    skip "lines of this Ruby have no labels" unless fly("").snapshot.attribution == :frames
  end

  # Places in Ruby's own files, but for those where a program that does nothing allocates: the VM's start.
  def internal(snapshot, jit)
    @start ||= {}
    @start[jit] ||= own_places(fly("", options: jit, heapline: "keep,objects").snapshot)
    own_places(snapshot) - @start[jit]
  end

  def own_places(snapshot)
    [*snapshot, *snapshot.objects].map { |each| each.location.to_s }.grep(/<internal:/)
  end
end
