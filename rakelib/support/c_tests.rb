# frozen_string_literal: true

require "fileutils"

module Tasks
  # The unit tests in C. Each test/c/NAME_test.c is one program, linked with the core, with test/c/support and with the
  # sources of ext/heapline that it names in its includes; it prints "N passed, N failed" last and exits with 0 if none
  # failed.
  class CTests
    # One way to build them. name: of its folder; flags: for compiling and linking; env: for running
    Variant = Struct.new(:name, :compiler, :flags, :env, keyword_init: true)

    PLAIN = Variant.new(name: "plain", compiler: "gcc", flags: %w[-O1 -g -DHL_DEBUG], env: {})

    LIMIT = 300 # seconds a program
    READER = %r{^#include "../../(ext/heapline/\w+)\.h"}

    # only: start of the names of the programs to run; nil: all
    def initialize(layer, variants, only: nil, root: ROOT)
      @layer = layer
      @variants = variants
      @only = only
      @root = root
    end

    # Returns a Tally over all programs in all variants.
    def run
      counts = @variants.flat_map { |variant| run_variant(variant) }
      Tally.new(layer: @layer, passed: counts.sum(&:first), failed: counts.sum(&:last))
    end

    private

    # Array of [passed, failed], one a program.
    def run_variant(variant)
      return [] if programs.empty?

      objects = shared.map { |source| compile(source, variant) }
      programs.map { |source| run_program(source, objects, variant) }
    rescue Uncompilable => e
      puts "FAILED #{variant.name}: #{e.message}"
      [[0, 1]]
    end

    def run_program(source, objects, variant)
      program = link(source, objects, variant)
      ok, output = Shell.capture("timeout", LIMIT.to_s, program, env: variant.env, dir: @root)
      puts "#{ok ? "ok" : "FAILED"} #{source} (#{variant.name})", ok ? [] : output
      passed, failed = output.scan(/^(\d+) passed, (\d+) failed$/).last&.map(&:to_i) || [ok ? 1 : 0, 0]
      [passed, !ok && failed.zero? ? 1 : failed]
    rescue Uncompilable => e
      puts "FAILED #{source} (#{variant.name})", e.message
      [0, 1]
    end

    class Uncompilable < StandardError; end

    def shared
      glob("ext/heapline_core/*/*.c") + glob("test/c/support/*.c")
    end

    def programs
      glob("test/c/#{@only}*_test.c")
    end

    def glob(pattern)
      Dir.glob(pattern, base: @root).sort
    end

    # Path of the object.
    def compile(source, variant)
      built(source, variant, ".o") do |object|
        [variant.compiler, *CFlags::BASE, *variant.flags, *CFlags::C_TESTS, "-c", "-o", object, source]
      end
    end

    # Path of the program.
    def link(source, objects, variant)
      own = [source, *readers(source)].map { |part| compile(part, variant) }
      built(source, variant, "") do |program|
        [variant.compiler, *variant.flags, "-pthread", "-rdynamic", "-o", program, *own, *objects,
         "-ldl"]
      end
    end

    def readers(source)
      File.read(File.join(@root, source)).scan(READER).map { |part,| "#{part}.c" }
    end

    def built(source, variant, suffix)
      target = File.join(@root, "tmp/c-tests", variant.name, File.basename(source, ".c") + suffix)
      FileUtils.mkdir_p(File.dirname(target))
      ok, output = Shell.capture(*yield(target), dir: @root)
      raise Uncompilable, output unless ok

      target
    end
  end
end
