# frozen_string_literal: true

require "json"
require "open3"
require "rbconfig"
require "tmpdir"

# The corpus of test/leaks: builds it, and says what is to be found of each case.
module LeakCorpus
  SOURCES = File.expand_path("../leaks", __dir__)
  DIRECTORY = Dir.mktmpdir("heapline-leaks")
  Minitest.after_run { FileUtils.rm_rf(DIRECTORY) }
  HEADERS = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").map { |path| "-I#{path}" }.freeze

  # Blocks by class: [definite, indirect, possible]. Cases without an entry lose one definitely.
  LOST = {
    "lost_in_a_loop" => [10, 0, 0], "lost_list" => [1, 4, 0], "lost_cycle" => [1, 2, 0], "lost_tree" => [1, 6, 0],
    "lost_by_a_dead_thread" => [3, 0, 0], "lost_with_the_tls_of_threads_at_once" => [5, 0, 0],
    "lost_and_pointed_into_by_a_lost_one" => [1, 1, 0],
    "lost_handle_with_its_buffer" => [1, 1, 0], "lost_table_with_its_entries" => [1, 16, 0],
    "lost_half_of_a_static_list" => [1, 1, 0], "cxx_lost_vector" => [1, 1, 0], "cxx_lost_string" => [1, 1, 0],
    "cxx_lost_map" => [1, 5, 0], "cxx_lost_shared_ring" => [1, 1, 0],
    "possible_behind_a_tag_in_low_bits" => [0, 0, 1], "possible_by_a_pointer_into_it" => [0, 0, 1],
    "possible_chain" => [0, 0, 2], "ruby_lost_table" => RUBY_VERSION < "4.1" ? [1, 2, 0] : [1, 1, 0],
    "ruby_lost_by_ended_fibers" => [40, 0, 0], "ruby_lost_by_dropped_fibers" => [20, 0, 0],
    "ruby_lost_by_enumerators" => [250, 0, 0]
  }.freeze
  # Blocks of a thread's case stand under the function that it ran.
  IN_THREADS = {
    "keep_in_tls" => "lost_with_the_tls_of_a_dead_thread",
    "keep_in_tls_together" => "lost_with_the_tls_of_threads_at_once",
    "keep_on_stack" => "lost_on_the_stack_of_a_dead_thread",
    "keep_as_specific" => "lost_with_the_key_of_a_dead_thread", "allocate_in_thread" => "lost_by_a_dead_thread"
  }.freeze
  METHODS = %w[ruby_lost_by_a_free_function ruby_lost_by_xmalloc ruby_lost_by_a_raise ruby_lost_table].freeze
  RUBY = (METHODS + %w[ruby_lost_by_ended_fibers ruby_lost_by_dropped_fibers ruby_lost_by_enumerators]).freeze
  # In threads of their own: what a method leaves on its stack is gone with that.
  LOST_RUBY = <<~RUBY.freeze
    #{METHODS}.each { |name| Thread.new { LeakCorpus.public_send(name) rescue nil }.join }
    Thread.new do
      fibers = Array.new(20) { Fiber.new { LeakCorpus.ruby_lost_by_ended_fibers }.tap(&:resume) }
      fibers.each(&:resume)
    end.join
    Thread.new { 20.times { Fiber.new { LeakCorpus.ruby_lost_by_dropped_fibers }.resume } }.join
    Thread.new do
      readers = Array.new(250) { Enumerator.new { |yielder| LeakCorpus.ruby_lost_by_enumerators { yielder << 1 } } }
      readers.each(&:next)
      readers.each { |reader| loop { reader.next } }
    end.join
  RUBY
  # Arrays with blocks of their own come and go, which leaves pages of objects empty, and the VM takes slots of others
  # for itself; then 2,000 blocks are lost.
  LOST_AFTER_ARRAYS = <<~RUBY
    5.times do
      kept = Array.new(20_000) { 90.times.each_with_object([]) { |number, array| array << number } }
      kept = nil
      GC.start
    end
    500.times { |number| eval("def m\#{number}(one) = one.to_s; m\#{number}(1)") }
    def lose = 2000.times { LeakCorpus.ruby_lost_after_many_arrays }
    lose
  RUBY
  CLEAN_METHODS = %w[ruby_held_by_an_object ruby_held_by_a_fiber ruby_held_by_a_thread ruby_freed_with_its_object
                     ruby_held_by_the_vm].freeze
  CLEAN_RUBY = <<~RUBY
    KEPT = LeakCorpus.ruby_held_by_an_object
    FIBER = Fiber.new { LeakCorpus.ruby_held_by_a_fiber }.tap(&:resume)
    THREAD = Thread.new { LeakCorpus.ruby_held_by_a_thread { Thread.stop } }
    Thread.pass until THREAD.stop?
    100.times { LeakCorpus.ruby_freed_with_its_object }
    LeakCorpus.ruby_held_by_the_vm
  RUBY

  class << self
    # Names of the cases in C and C++ that lose blocks, and of those that do not.
    def lost
      @lost ||= cases(/\A(cxx_)?(lost|possible)_/)
    end

    def clean
      @clean ||= cases(/\A(cxx_)?(held|freed)_/)
    end

    # [definite, indirect, possible]
    def expected(name)
      LOST.fetch(name, [1, 0, 0])
    end

    # The directory of the extension leak_corpus.so.
    def extension
      @extension ||= link("leak_corpus.so", %w[corpus.c lost.c clean.c cxx.cpp corpus_ruby.c], "-shared")
    end

    # Path of the program for other tools. flags: of the compiler.
    def program(name, *flags)
      File.join(link(name, %w[corpus.c lost.c clean.c cxx.cpp corpus_main.c], *flags), name)
    end

    # A Ruby program that loads the extension, and one that runs these cases, then `more`.
    def setup
      "$LOAD_PATH.unshift(#{extension.dump}); require \"leak_corpus\"\n"
    end

    def source(names, more = "")
      "#{setup}#{names.inspect}.each { |name| LeakCorpus.run(name) or abort(name) }\n#{more}"
    end

    # { case => { kind => blocks } } of records as `heapline leaks --format json` has them.
    def found(records)
      records.each_with_object(Hash.new { |found, name| found[name] = Hash.new(0) }) do |record, found|
        found[name(record)][record["kind"]] += record["blocks"]
      end
    end

    # The case of a record.
    def name(record)
      case_of(record["frames"].map { |frame| frame["function"].to_s })
    end

    # The case whose function is on this stack; where there is none, the stack.
    def case_of(functions)
      known = functions.filter_map { |name| name[/\b(cxx_|ruby_)?(lost|possible|held|freed)_\w+/] || IN_THREADS[name] }
      known.first || functions.join(" < ")
    end

    private

    def cases(pattern)
      %w[lost.c clean.c cxx.cpp].flat_map { |file| File.read(File.join(SOURCES, file)).scan(/CORPUS_CASE\((\w+)\)/) }
                                .flatten.grep(pattern)
    end

    # -O0: no compiler may leave out an allocation that looks useless.
    def link(target, sources, *flags)
      return DIRECTORY if File.exist?(File.join(DIRECTORY, target))

      objects = sources.map { |source| compile(source, target, flags - ["-shared"]) }
      run("g++", "-o", File.join(DIRECTORY, target), *objects, *flags, "-lpthread")
      DIRECTORY
    end

    def compile(source, target, flags)
      object = File.join(DIRECTORY, "#{target}-#{source}.o")
      compiler = source.end_with?(".cpp") ? "g++" : "gcc"
      run(compiler, "-O0", "-g", "-fPIC", *HEADERS, *flags, "-c", "-o", object, File.join(SOURCES, source))
      object
    end

    def run(*command)
      output, status = Open3.capture2e(*command)
      raise "the corpus does not compile:\n#{output}" unless status.success?
    end
  end
end
