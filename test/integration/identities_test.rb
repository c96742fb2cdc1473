# frozen_string_literal: true

require "test_helper"
require "support/flight_run"

# allocated − freed = live, per site and in total, and equal to what an allocator below heapline counted by itself.
class IdentitiesTest < Minitest::Test
  include FlightRun

  WORKLOADS = {
    strings: <<~RUBY,
      a = Array.new(20_000) { |i| "x" * (i % 500) }
      a.map { |s| s + s.reverse }.join(",").split(",").size
    RUBY
    hashes: <<~RUBY,
      h = {}
      20_000.times { |i| h[i.to_s] = [i] }
      h.reject! { |k, _| k.size.odd? }
      h.to_a.to_h.invert
    RUBY
    json: <<~RUBY,
      require "json"
      200.times { JSON.parse(JSON.generate((1..100).map { |i| { "n" => i, "s" => i.to_s * 9 } })) }
    RUBY
    erb: <<~'RUBY',
      require "erb"
      50.times { |i| ERB.new("<% 20.times do |n| %><%= n * #{i} %> text <% end %>").result }
    RUBY
    digests: <<~'RUBY',
      require "openssl"
      500.times { |i| OpenSSL::HMAC.hexdigest("SHA256", "k#{i}", "d" * i) }
    RUBY
    zlib: <<~RUBY,
      require "zlib"
      30.times { |i| Zlib.inflate(Zlib.deflate("heap line " * 500 * i)) }
    RUBY
    threads: <<~RUBY,
      40.times.map { |i| Thread.new { Array.new(200) { |n| n.to_s * i } } }.each(&:join)
    RUBY
    fibers: <<~RUBY,
      f = Array.new(200) { |i| Fiber.new { 5.times { |n| Fiber.yield "f" * (i * n + 50) } } }
      5.times { f.each(&:resume) }
    RUBY
    enumerators: <<~RUBY,
      50.times do
        (1..Float::INFINITY).lazy.map { |n| n.to_s * 40 }.first(20)
        [1, 2, 3].each.next
      end
    RUBY
    ractors: <<~RUBY,
      Warning[:experimental] = false
      ractors = 4.times.map { |i| Ractor.new(i) { |n| Array.new(500) { |x| x.to_s * n }.size } }
      ractors.each { |r| r.respond_to?(:value) ? r.value : r.take }
    RUBY
    eval: <<~'RUBY',
      500.times do |i|
        eval("def evaluated_#{i % 20}; [#{i}] * #{i}; end; evaluated_#{i % 20}", binding, "e#{i}.rb", i)
      end
    RUBY
    requires: <<~RUBY,
      %w[set uri time optparse tempfile open3 securerandom yaml pstore delegate forwardable net/http].each do |library|
        require library
      rescue LoadError
        nil
      end
    RUBY
    compaction: <<~RUBY,
      k = Array.new(5000) { |i| "k" * (i % 3000) }
      5.times { k.shuffle!.pop(500); GC.compact if GC.respond_to?(:compact) }
    RUBY
    object_space: <<~RUBY,
      ObjectSpace.each_object(Class).map { |c| c.instance_methods(false).map(&:to_s) }
      ObjectSpace.garbage_collect
    RUBY
    files: <<~RUBY,
      r, w = IO.pipe
      300.times { |i| w.puts "l" * i; r.gets }
      File.open(__FILE__) { |f| f.each_line.map(&:upcase) }
      Dir["/usr/lib/*"]
    RUBY
    regexps: <<~'RUBY',
      300.times { |i| "abc#{i}def" =~ /(?<a>[a-z]+)(\d{#{i % 9}})/; "a,b;c".scan(/#{"x|" * (i % 50)}\w/) }
    RUBY
    integers: <<~RUBY,
      x = 3**2000
      100.times { |i| (x * x + i) / (i + 1) % (2**500 + i) }
      x.to_s.to_i(16).digits
    RUBY
    marshal: <<~RUBY,
      o = (1..2000).map { |i| [i, i.to_s, { i => 1.5 }] }
      5.times { Marshal.load(Marshal.dump(o)) }
    RUBY
    sockets: <<~RUBY,
      require "socket"
      server = TCPServer.new("127.0.0.1", 0)
      answering = Thread.new { server.accept.then { |c| c.write(c.gets * 100); c.close } }
      client = TCPSocket.new("127.0.0.1", server.addr[1])
      client.puts "loop" * 100
      client.read
      answering.join
    RUBY
    sets: <<~RUBY,
      require "set"
      s = Set.new
      20_000.times { |i| s << (i * 7919 % 10_007).to_s }
      s.sort.each_slice(7).to_a
      s.group_by(&:size)
    RUBY
    symbols: <<~'RUBY',
      Array.new(3000) { |i| "sym_#{i}".to_sym.to_proc }
      Array.new(500) { |i| Struct.new("S#{i}".to_sym, :a, :b).new(i, i) }
    RUBY
    exceptions: <<~RUBY
      500.times do |i|
        raise ArgumentError, "e" * i
      rescue ArgumentError => e
        e.full_message
      end
    RUBY
  }.freeze

  FIGURES = %i[allocations bytes_allocated frees bytes_freed].freeze
  TRAILER = 8

  WORKLOADS.each do |name, code|
    define_method("test_#{name}_counted_as_below") do
      # As in attribution_test.rb: Ruby alone fails with Ractors now and then.
      skip "not on Ruby #{RUBY_VERSION}" if name == :ractors && RUBY_VERSION.match?(/\A3\.[34]\./)

      assert_counted_as_below(code)
    end
  end

  def test_clear_leaves_the_identities
    assert_counted_as_below(<<~RUBY)
      require "heapline"
      keep = Array.new(1000) { |i| "k" * (i + 100) }
      3.times { Heapline.clear; keep.shift(200); keep.concat(Array.new(100) { "n" * 200 }) }
    RUBY
  end

  private

  # Compare the differences between two instants at which the program stood still. heapline asks for 8 bytes more a
  # block than the program did.
  def assert_counted_as_below(code)
    instants = []
    counts = File.join(workplace, "counts")
    text = "Process.kill(:STOP, $$)\n#{code}\nGC.start\nProcess.kill(:STOP, $$)\nProcess.kill(:STOP, $$)\n"
    run = counted(text, counts) { |directory| instants << [snapshot_in(directory), File.binread(counts).unpack("Q4")] }
    assert run.status.success?, run.error
    assert_equal 3, instants.size
    instants.map(&:first).each { |snapshot| assert_sound(snapshot) }
    assert_grew_alike(*instants.first(2))
  end

  def counted(text, counts)
    directory = new_directory
    list = [Heapline::TestHelper::CORE, NativePrograms.library("counter")].join(":")
    env = { "LD_PRELOAD" => list, "HEAPLINE" => "keep", "HEAPLINE_DIR" => directory, "COUNTER_FILE" => counts,
            "RUBYLIB" => Heapline::TestHelper::LIB }
    watch(ruby(script(text)), directory: directory, env: env) { yield directory }
  end

  def snapshot_in(directory)
    Heapline::Accounting::Flight.read(Dir[File.join(directory, "*.flight")].first)
  end

  def assert_sound(snapshot)
    assert_empty snapshot.failures
    snapshot.each do |site|
      name = site.location.name
      assert_operator site.frees, :<=, site.allocations, name
      assert_equal site.live_bytes, site.bytes_allocated - site.bytes_freed, name
      assert_operator site.live_bytes, :>=, 0, name
      assert_equal 0, site.live_bytes, name if site.live_blocks.zero?
      assert_operator site.temporary, :<=, site.frees, name
    end
    assert_operator snapshot.peak_bytes, :>=, snapshot.live_bytes
  end

  def assert_grew_alike(first, second)
    above, below = [first, second].transpose
    grown = FIGURES.map { |figure| all(above[1], figure) - all(above[0], figure) }
    real = below[1].zip(below[0]).map { |after, before| after - before }
    assert_operator real[0], :>, 100, "the workload did little"
    assert_equal [real[0], real[1] - (TRAILER * real[0])], grown.first(2), "allocations, bytes"
    assert_equal [real[2], real[3] - (TRAILER * real[2])], grown.last(2), "frees, bytes"
  end

  # What was born inside quiet is in no total of the snapshot, but below it is.
  def all(snapshot, figure)
    snapshot.public_send(figure) + (snapshot.quiet ? snapshot.quiet[figure] : 0)
  end
end
