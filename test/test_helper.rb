# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))

require "minitest/autorun"
require "fileutils"
require "tmpdir"

# A runner that was started in the background ignores these, and so would every program that a test interrupts.
%i[HUP INT QUIT].each { |signal| trap(signal, "DEFAULT") }

# What programs print is UTF-8, also where the runner was started without a locale.
Encoding.default_external = Encoding::UTF_8 if Encoding.default_external != Encoding::UTF_8

module Heapline
  # What the tests of all layers share.
  module TestHelper
    ROOT = File.expand_path("..", __dir__)
    LIB = File.join(ROOT, "lib")
    EXE = File.join(ROOT, "exe", "heapline")
    CORE = File.join(LIB, "heapline", "libheapline.so")
    # Seconds after which what did not come never will: a machine may do twenty other things.
    PATIENCE = 300.0
    # For commands that ask a process, as it must answer by then.
    PATIENTLY = ["--timeout", PATIENCE.to_s].freeze

    # Wait until the block returns something true, and return it; fail with `message` when it never does.
    def await(message = "the condition did not come true")
      limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
      until (result = yield)
        flunk "#{message} within #{PATIENCE} s" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit
        Thread.pass
        IO.select(nil, nil, nil, 0.005)
      end
      result
    end

    # While the block runs, `object.name` is `replacement`: a value, or a Proc that gets the arguments.
    def replacing(object, name, replacement)
      former = object.method(name) if object.singleton_methods(false).include?(name)
      answer = replacement.respond_to?(:call) ? replacement : ->(*) { replacement }
      without_warnings { object.define_singleton_method(name) { |*arguments| answer.call(*arguments) } }
      yield
    ensure
      without_warnings { former && object.define_singleton_method(name, former) }
      object.singleton_class.remove_method(name) unless former
    end

    # A redefined method is what is wanted here.
    def without_warnings
      verbose = $VERBOSE
      $VERBOSE = nil
      yield
    ensure
      $VERBOSE = verbose
    end

    # A directory for this test alone; it is gone afterwards.
    def in_directory(&)
      Dir.mktmpdir("heapline-test", &)
    end

    # An environment without anything of heapline, so that tests see only what they set.
    def plain_environment(**more)
      { "HEAPLINE" => nil, "HEAPLINE_DIR" => nil, "HEAPLINE_TOP" => nil, "HEAPLINE_REPORTER" => nil,
        "HEAPLINE_COMPANION" => nil,
        "LD_PRELOAD" => nil }.merge(more.transform_keys(&:to_s))
    end
  end
end

Minitest::Test.include(Heapline::TestHelper)

# A directory of each test's own, in @directory; it is gone afterwards.
module OwnDirectory
  def setup
    super
    @directory = Dir.mktmpdir("heapline-test")
  end

  def teardown
    FileUtils.remove_entry(@directory)
    super
  end
end
