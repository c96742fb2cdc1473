# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/live_dumps"

# Where classes are defined, as dumps of running processes tell, for objects that nobody saw being born.
class ClassDefinitionsTest < Minitest::Test
  include LiveDumps

  SHOP = <<~RUBY
    module Shop
      class Order; end
      Item = Struct.new(:name)
    end
    class Shop::Order; def later = 1; end
    $kept = [Array.new(300) { Shop::Order.new }, Array.new(20) { Shop::Item.new }, Class.new.new]
    class << $kept[0][0]; def own = 2; end
    puts "ready"
    $stdout.flush
    loop { sleep 0.005; "x" * 5000 }
  RUBY

  # The process is not counted when it makes its objects.
  def attached(text)
    plain = IO.popen([RbConfig.ruby, program(text)])
    @processes << plain.pid
    assert_equal "ready\n", plain.gets
    out, err, status = heapline("attach", "--objects", *Heapline::TestHelper::PATIENTLY, plain.pid.to_s)
    assert status.success?, out + err
    plain.pid
  end

  def asked(*words)
    out, err, status = heapline("heap", *words)
    assert status.success?, err
    out
  end

  # Path and line, or nil, by the class's name.
  def definitions(lines)
    places = lines.select { |line| line["type"] == "HEAPLINE_CLASS" }
                  .to_h { |line| [line["address"], line.values_at("path", "lineno")] }
    classes = lines.select { |line| %w[CLASS MODULE].include?(line["type"]) && line["name"] }
    classes.to_h { |line| [line["name"], places[line["address"]]] }
  end

  def test_objects_that_are_older_than_the_attach
    dump_of(attached(SHOP))
    file = path("program.rb")
    assert_match(/ 300 .* Shop::Order  #{file}:2$/, asked("histo", "--top", "0", path("dump.json")))
    assert_match(/ 20 .* Shop::Item  #{file}:3$/, asked("histo", "--top", "0", path("dump.json")))
    assert_match(/^  300 instances of Shop::Order · .* defined at #{file}:2$/,
                 asked("find", path("dump.json"), "Shop::Order"))
    found = JSON.parse(asked("find", "--json", path("dump.json"), "Shop::Order"))
    assert_equal [file, 2], found["class"].values_at("defined_path", "defined_lineno")
    order = found["instances"].first
    assert_equal [nil, file, 2], order.values_at("path", "defined_path", "defined_lineno")
    assert_match(/its class is defined at #{file}:2$/, asked("find", path("dump.json"), order["address"]))
    anonymous = JSON.parse(asked("histo", "--json", "--top", "0", path("dump.json")))["groups"]
                    .find { |row| row["class"].start_with?("#<Class:") }
    assert_equal [nil, nil], anonymous.values_at("defined_path", "defined_lineno")
  end

  # Whatever of the program could run while the constants are read ends it.
  HOSTILE = <<~RUBY
    FILE = ENV.fetch("NEVER")
    File.write(FILE, "abort 'loaded'")
    Warning[:deprecated] = true
    def Warning.warn(*) = abort("warned")
    class Object; autoload :NeverLoaded, FILE; end
    module Space
      autoload :Never, FILE
      class Old; end
      deprecate_constant :Old
      class Hidden; end
      private_constant :Hidden
      class Replaced; end
      FIRST = Replaced.new
      remove_const :Replaced
      class Replaced; end
      class Removed; end
      KEPT = remove_const(:Removed).new
      class Taken; end
      OTHER = Taken
      remove_const :Taken
      Taken = String
      class << self
        def const_missing(*) = abort("missing")
        def constants(*) = abort("constants")
        def const_get(*) = abort("get")
        def const_source_location(*) = abort("asked")
        def name = abort("name")
        def to_s = abort("to_s")
        def inspect = abort("inspect")
        class InSingleton; end
      end
    end
    class Foo
      class << self
        def const_source_location(*) = abort("asked")
        def name = abort("name")
        def hash = abort("hash")
        def ==(_) = abort("compared")
      end
    end
    module Refining; refine(Foo) { def refined = 1 }; end
    module Aliases; Foo = ::Foo; Order = Class.new; end
    Named = Aliases::Order
    class Inner < Struct.new(:a); end
    deep = Object
    1000.times { deep = deep.const_set(:D, Module.new) }
    class BasicObject; class Basic; end; end
    Module.new.const_set(:Inside, Class.new)
    puts "ready"
    $stdout.flush
    loop { sleep 0.005; "x" * 5000 }
  RUBY

  def line_of(text)
    HOSTILE.lines.index { |line| line.include?(text) } + 1
  end

  def test_nothing_of_the_program_runs
    file = path("hostile.rb")
    File.write(file, HOSTILE)
    inside, outside = IO.pipe
    environment = self.environment.merge("NEVER" => path("never.rb"))
    @processes << (pid = Process.spawn(environment, *heapline_command("--quiet", RbConfig.ruby, file), out: outside))
    assert_equal "ready\n", inside.gets
    found = definitions(dump_of(pid))
    at = ->(text) { [file, line_of(text)] }
    assert_equal [at["module Space"], at["class Old"], at["class Hidden"], at["class Foo"], at["Order = Class"],
                  at["class Inner"], at["deep.const_set"], at["class Basic;"]],
                 found.values_at("Space", "Space::Old", "Space::Hidden", "Foo", "Aliases::Order", "Inner",
                                 ["D"].cycle.first(1000).join("::"), "BasicObject::Basic")
    assert_equal [true, nil, nil], [found.key?("Space::Removed"), *found.values_at("Space::Removed", "Space::Taken")]
    assert_nil found["String"]
    assert_equal [[file, line_of("Replaced; end") + 3]], places_of("Space::Replaced")
    dump_of(pid)
  end

  # Of all classes with this name those that have a line.
  def places_of(name)
    lines = File.readlines(path("dump.json")).map { |line| JSON.parse(line) }
    classes = lines.select { |line| line["name"] == name }.map { |line| line["address"] }
    assert_equal 2, classes.size
    lines.select { |line| line["type"] == "HEAPLINE_CLASS" && classes.include?(line["address"]) }
         .map { |line| line.values_at("path", "lineno") }
  end
end
