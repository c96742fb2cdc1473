# frozen_string_literal: true

require "test_helper"
require "json"
require "support/accounted"
require "support/heap_example"

# Compiled code of real processes, and in dumps: what was planted is found, piece by piece.
class CodeTest < Minitest::Test
  include Accounted

  EXAMPLE = File.join(Heapline::TestHelper::ROOT, "examples", "template_leak.rb")
  PAGE = "pages/order.erb"
  COPIES = 200

  # The same template many times: a method with two blocks on one line. Each other kind of code once.
  PLANTED = <<~RUBY
    require "objspace"
    KEPT = []
    def compile
      page = Module.new
      page.module_eval("def page; [1].each { |x| x }.map { |y| y }; end", "pages/order.erb", 7)
      KEPT << page
    end
    200.times { compile }
    class Shop
      def sell(list) = list.each { |one| one.to_s }
      def self.open; end
      define_method(:close) { [2].each { |two| two } }
    end
    module Help
      def explain; end
    end
    LOOSE = eval("proc { 4 }", TOPLEVEL_BINDING.dup, "pages/loose.erb", 1)
    def memsize(method) = ObjectSpace.memsize_of(RubyVM::InstructionSequence.of(method))
    sizes = [memsize(Shop.instance_method(:sell)), memsize(KEPT.first.instance_method(:page)), memsize(LOOSE)]
    GC.start
    File.open(ARGV.first, "w") { |file| ObjectSpace.dump_all(output: file) } if ARGV.first
    puts sizes.join(" ")
    $stdout.flush
    loop { sleep 0.005; "x" * 5000 }
  RUBY

  # The answer to `heapline code WORDS` as parsed JSON.
  def code(*words)
    timeout = words.any? { |word| word.match?(/\A\d+\z/) } ? [*PATIENTLY] : []
    out, err, status = heapline("code", "--json", "--top", "0", *timeout, *words.map(&:to_s))
    assert status.success?, err
    JSON.parse(out)
  end

  def row(answer, by, name)
    answer["by_#{by}"].find { |row| row[by] == name } or flunk "no #{name} in #{answer["by_#{by}"].first(5)}"
  end

  def planted(*options)
    pid, said = start(program(PLANTED), *options)
    [pid.to_s, said.split.map(&:to_i)]
  end

  def test_what_was_planted
    pid, sizes = planted("--objects")
    answer = code(pid, "--save", path("planted.code"))
    page = row(answer, "method", "page")
    assert_equal [3 * COPIES, 3 * (COPIES - 1), 0], page.values_at("count", "copies", "unreached")
    assert_operator row(answer, "file", PAGE)["bytes"], :>=, page["bytes"] # what was evaluated may not be freed yet
    assert_equal [2, 2], row(answer, "file", "pages/loose.erb").values_at("count", "unreached")
    site = row(answer, "site", "#{path("program.rb")}:5")
    assert_operator site["copies"], :>=, 3 * (COPIES - 1)
    assert_operator site["live_bytes"], :>, page["bytes"] - (3 * COPIES * 160), "what is not in slots is malloc's"
    assert_operator site["live_objects"], :>=, 3 * COPIES
    check_lines(sizes)
  end

  # What a piece of code takes is what Ruby says, and who has it.
  def check_lines(sizes)
    lines = File.readlines(path("planted.code")).map { |line| JSON.parse(line) }
    pieces = lines.select { |line| line["type"] == "HEAPLINE_CODE" }.group_by { |line| line["label"] }
    sell, page = pieces.values_at("sell", "page").map(&:first)
    loose = lines.find { |line| line["path"] == "pages/loose.erb" && line["label"].start_with?("block") }
    assert_equal(sizes, [sell, page, loose].map { |line| line["bytes"] })
    assert_equal ["Shop#sell", 10], sell.values_at("method", "method_line")
    own = lines.select { |line| line["path"] == path("program.rb") }
    own = own.to_h { |line| [line.values_at("line", "label"), line["method"]] }
    assert_equal ["Shop#sell", "Shop.open", "Shop#close", "Help#explain", "<class:Shop>"],
                 own.values_at([10, "block in sell"], [11, "open"], [12, "block in <class:Shop>"], [15, "explain"],
                               [9, "<class:Shop>"])
  end

  # A dump by heapline tells the same as the process.
  def test_a_heap_dump
    skip "this heapline was built without what reads heap dumps" unless HeapExample.readable?
    pid, = planted
    live = code(pid, "--gc")
    _, err, status = heapline("heap", "dump", "--gc", *PATIENTLY, "-o", path("dump.json.gz"), pid)
    assert status.success?, err
    dump = code(path("dump.json.gz"))
    figures = %w[count bytes copies copy_bytes unreached example]
    assert_equal row(live, "method", "page").values_at(*figures), row(dump, "method", "page").values_at(*figures)
    check_holders(row(dump, "method", "page")["example"])
  end

  # The command that is named next finds who holds a copy.
  def check_holders(address)
    out, err, status = heapline("heap", "find", path("dump.json.gz"), address, "--path")
    assert status.success?, err
    assert_match(/^  root vm → .*KEPT → Array\[/, out)
  end

  # A dump of Ruby's own: files, methods and bytes, and no lines.
  def test_a_dump_of_any_ruby
    skip "this heapline was built without what reads heap dumps" unless HeapExample.readable?
    source = PLANTED.sub(/^loop.*/, "")
    _, err, status = Open3.capture3(plain_environment, RbConfig.ruby, program(source), path("plain.json"))
    assert status.success?, err
    answer = code(path("plain.json"))
    assert_equal %w[lines births malloc], answer["lacking"]
    assert_equal [3 * COPIES, COPIES - 1], row(answer, "method", "page").values_at("count", "copies")
    assert_equal [2, 0], row(answer, "method", "sell").values_at("count", "copies")
  end

  COUNTED = <<~RUBY
    require "heapline"
    require "objspace"
    counts = {}
    lines = nil
    3.times do
      reader, writer = IO.pipe
      reading = Thread.new { reader.each_line.count { |line| line.include?("HEAPLINE_CODE") } }
      sleep 0.001 until reading.stop?
      GC.start
      ObjectSpace.count_imemo_objects(counts)
      Heapline::Native.twin(:code, writer.fileno, false)
      writer.close
      lines = reading.value
      sleep 0.001 until Heapline::Native.twin_gone?
    end
    print lines - counts[:imemo_iseq]
  RUBY

  # As many as Ruby itself counts.
  def test_all_of_it
    command = [RbConfig.ruby, "-I#{Heapline::TestHelper::LIB}", program(COUNTED)]
    out, err, status = Open3.capture3(environment, *command)
    assert status.success?, err
    assert_includes(-2..2, Integer(out))
  end

  # The example, until it has served so many requests more; yields between. It may go on after that.
  def serve(*arguments)
    @reader, writer = IO.pipe
    pid = Process.spawn(environment, *heapline_command("--quiet", RbConfig.ruby, EXAMPLE, *arguments), out: writer)
    writer.close
    @processes << pid
    2.times { assert_match(/\A\d+ requests$/, @reader.gets) }
    yield pid.to_s
    assert_match(/\A\d+ requests$/, @reader.gets)
    assert_match(/\A\d+ requests$/, @reader.gets) # this hundred began after what the block did
    pid.to_s
  end

  def test_templates_that_are_compiled_for_ever
    early = nil
    pid = serve { |pid| early = code(pid, "--save", path("early.code")) }
    worst = early["by_site"].max_by { |row| row["copies"] }
    assert_match(/template_leak\.rb:38\z/, worst["site"])
    assert_operator row(early, "file", PAGE)["copies"], :>=, 199
    assert_equal PAGE, early["by_file"].max_by { |row| row["copies"] }["file"]
    skip "this heapline was built without what reads heap dumps" unless HeapExample.readable?
    grown = code(path("early.code"), pid)["by_method"].first
    assert_equal PAGE, grown["path"]
    assert_operator grown["growth_copies"], :>=, 100
  end

  def test_templates_that_are_compiled_once
    answer = nil
    serve("fixed") { |pid| answer = code(pid) }
    assert_equal 0, row(answer, "file", PAGE)["copies"]
  end
end
