# frozen_string_literal: true

require "open3"
require "rbconfig"

# Three dumps of examples/sessions.rb, made once for a run of the tests, and the real `heapline heap`.
module HeapExample
  EXAMPLE = File.join(Heapline::TestHelper::ROOT, "examples", "sessions.rb")

  class << self
    # Paths of the dumps.
    def dumps
      @dumps ||= begin
        directory = Dir.mktmpdir("heapline-test")
        Minitest.after_run { FileUtils.rm_rf(directory) }
        output, status = Open3.capture2e(RbConfig.ruby, EXAMPLE, directory)
        raise "#{EXAMPLE} failed: #{output}" unless status.success?

        %w[1 2 3].map { |name| File.join(directory, "#{name}.json") }
      end
    end

    # Was the extension built?
    def readable?
      require "heapline/heap_dump"
      Heapline::HeapDump.native
      true
    rescue Heapline::Error
      false
    end
  end

  def setup
    super
    skip "this heapline was built without what reads heap dumps" unless HeapExample.readable?
  end

  def dumps
    HeapExample.dumps
  end

  def command(*words)
    [RbConfig.ruby, "-I", Heapline::TestHelper::LIB, Heapline::TestHelper::EXE, "heap", *words]
  end

  def environment
    plain_environment(LANG: "C.UTF-8", COLUMNS: "120")
  end

  # [stdout, stderr, Process::Status] of `heapline heap WORDS`.
  def heap(*words, **options)
    out, err, status = Open3.capture3(environment, *command(*words), binmode: true, **options)
    [out.force_encoding(Encoding::UTF_8), err.force_encoding(Encoding::UTF_8), status]
  end

  # What a command that succeeds writes.
  def heap!(*words, **options)
    out, err, status = heap(*words, **options)
    assert_equal [0, ""], [status.exitstatus, err], words.inspect
    out
  end

  # The same as parsed JSON.
  def json(*words)
    JSON.parse(heap!(*words, "--json"))
  end
end
