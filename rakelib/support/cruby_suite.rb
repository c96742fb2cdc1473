# frozen_string_literal: true

require "fileutils"

module Tasks
  # CRuby 3.1.2's own tests. They are test equipment: they lie beside the checkout, or there is nothing to run.
  class CrubySuite
    ARCHIVE = File.expand_path("../shared/cruby-tests/cruby-3.1.2-tests.tar.xz", ROOT)
    FOLDER = File.join(CACHE, "cruby-3.1.2-tests")
    REPEATS = 20

    # test_jit: needs a compiler set-up that Debian's Ruby lacks.
    LEFT_OUT = %w[ruby/test_jit.rb ruby/test_jit_debug.rb ruby/test_rubyvm_jit.rb].freeze
    THREADED = %w[ruby/test_thread.rb ruby/test_thread_queue.rb ruby/test_thread_cv.rb ruby/test_hash.rb
                  ruby/test_fiber.rb ruby/test_process.rb].freeze

    # Starts 18,000 processes at once and counts on a limit that root does not have: what runs beside it cannot fork.
    LEFT_OUT_TEST = "test_aspawn_too_long_path"

    # What is worth most in eight minutes: threads, processes, signals, GC, what frees iseqs, what calls malloc most.
    SUBSET = %w[
      ruby/test_hash.rb ruby/test_thread_queue.rb ruby/test_thread_cv.rb ruby/test_threadgroup.rb ruby/test_fiber.rb
      ruby/test_gc.rb ruby/test_gc_compact.rb ruby/test_iseq.rb ruby/test_eval.rb ruby/test_proc.rb
      ruby/test_method.rb ruby/test_string.rb ruby/test_array.rb ruby/test_struct.rb ruby/test_objectspace.rb
      ruby/test_weakmap.rb ruby/test_signal.rb ruby/test_backtrace.rb ruby/test_settracefunc.rb ruby/test_enumerator.rb
      ruby/test_exception.rb ruby/test_ast.rb ruby/test_parse.rb ruby/test_regexp.rb ruby/test_marshal.rb
      ruby/test_pack.rb ruby/test_bignum.rb ruby/test_transcode.rb ruby/test_process.rb ruby/test_thread.rb
      ruby/test_system.rb ruby/test_memory_view.rb objspace/test_objspace.rb fiddle/test_pointer.rb
      fiddle/test_function.rb fiddle/test_closure.rb fiddle/test_memory_view.rb zlib/test_zlib.rb
      json/json_parser_test.rb json/json_generator_test.rb psych/test_psych.rb psych/test_parser.rb
      fiber/test_scheduler.rb fiber/test_thread.rb fiber/test_mutex.rb fiber/test_ractor.rb monitor/test_monitor.rb
      socket/test_unix.rb stringio/test_stringio.rb strscan/test_stringscanner.rb
    ].freeze

    # Under accounting of Ruby objects: what makes, frees, moves and walks objects, classes, threads and processes most.
    OBJECTS = %w[
      ruby/test_gc.rb ruby/test_gc_compact.rb ruby/test_objectspace.rb objspace/test_objspace.rb ruby/test_weakmap.rb
      ruby/test_class.rb ruby/test_module.rb ruby/test_marshal.rb ruby/test_string.rb ruby/test_array.rb
      ruby/test_hash.rb ruby/test_symbol.rb ruby/test_struct.rb ruby/test_proc.rb ruby/test_iseq.rb
      ruby/test_thread.rb ruby/test_fiber.rb ruby/test_process.rb ruby/test_settracefunc.rb ruby/test_backtrace.rb
      ruby/test_object.rb ruby/test_refinement.rb ruby/test_eval.rb fiber/test_ractor.rb
    ].freeze

    # Under recording, which is written into the ring and brought into a capture meanwhile: signals, exits, what the VM
    # does without Ruby; with C frames and objects threads, fibers, callbacks from C and what moves objects.
    RECORD = %w[
      ruby/test_signal.rb ruby/test_exception.rb ruby/test_system.rb ruby/test_beginendblock.rb fiber/test_scheduler.rb
      socket/test_unix.rb
    ].freeze
    RECORD_ALL = %w[
      ruby/test_thread.rb ruby/test_gc_compact.rb fiber/test_thread.rb fiber/test_ractor.rb fiddle/test_closure.rb
    ].freeze

    # Under attach and detach at random moments: threads, processes, signals, compaction, what frees iseqs, Ractors.
    # Not what measures its own RSS or counts its own GCs, to which an attach adds (test_string, test_hash, test_gc …).
    ATTACH = %w[
      ruby/test_thread.rb ruby/test_thread_queue.rb ruby/test_process.rb ruby/test_gc_compact.rb ruby/test_iseq.rb
      ruby/test_exception.rb ruby/test_objectspace.rb ruby/test_weakmap.rb ruby/test_transcode.rb fiber/test_ractor.rb
      fiddle/test_closure.rb
    ].freeze

    PARTS = {
      "subset" => [[Accounted.new, SUBSET]],
      "objects" => [[Accounted.new("quiet,objects"), OBJECTS]],
      "attach" => [[Attached.new, ATTACH]],
      "record" => [[Recorded.new, RECORD], [Recorded.new("--native", "--objects"), RECORD_ALL]]
    }.freeze

    # Why it cannot run here, or nil.
    def unavailable
      return "#{ARCHIVE} is not there" unless File.exist?(ARCHIVE)

      "the tests are Ruby 3.1's, and this is #{RUBY_VERSION}" unless RUBY_VERSION.start_with?("3.1.")
    end

    # what: nil for every file (the threaded ones REPEATS times), a key of PARTS, or a path like "ruby/test_hash.rb"
    def run(layer, what = nil)
      unpack
      tallies = parts(what).map { |under, files| compare(layer, under, files.map { |file| [file, times(file, what)] }) }
      Tally.new(layer: layer, passed: tallies.sum(&:passed), failed: tallies.sum(&:failed))
    end

    private

    def compare(layer, under, files)
      command = [RbConfig.ruby, "-I", "tool/lib", "-I", "test/lib", "test/runner.rb", "--ruby=#{RbConfig.ruby}",
                 "--name=!/##{LEFT_OUT_TEST}\\z/"]
      SuiteComparison.new(layer, dir: FOLDER, command: command, under: under).run(files)
    end

    def parts(what)
      PARTS.fetch(what) { [[Accounted.new, what ? [what] : everything]] }
    end

    def times(file, what)
      return THREADED.include?(file) ? REPEATS : 1 unless what

      what == "subset" && file == "ruby/test_hash.rb" ? 2 : 1
    end

    def everything
      Dir.glob("**/{test_*,*_test}.rb", base: File.join(FOLDER, "test")).sort
         .reject { |file| file.start_with?("lib/") } - LEFT_OUT
    end

    # Unpacked beside its place and then moved there: what is there is whole.
    def unpack
      return if File.directory?(FOLDER)

      FileUtils.mkdir_p(CACHE)
      Dir.mktmpdir("unpack", CACHE) do |dir|
        ok, output = Shell.capture("tar", "-xf", ARCHIVE, "-C", dir)
        abort "cruby: tar could not unpack #{ARCHIVE}:\n#{output}" unless ok
        File.rename(File.join(dir, "cruby-3.1.2-tests"), FOLDER)
      end
    end
  end
end
