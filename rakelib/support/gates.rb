# frozen_string_literal: true

require "etc"
require "tmpdir"

module Tasks
  # The gates that are other people's programs.
  module Gates
    # Every C source compiles without a warning.
    class Compiler < Gate
      def initialize(compiler, root = ROOT)
        super(root)
        @compiler = compiler
      end

      def name
        @compiler
      end

      private

      def patterns
        %w[ext/**/*.{c,cpp} test/c/**/*.c test/cpp/**/*.cpp test/programs/**/*.c test/fuzz/**/*.{c,cpp}]
      end

      # Compiled for real: with -fsyntax-only, or without optimisation, gcc does not look for half of what it can
      # warn about. Not to /dev/null: ccache, run by root, puts a file in its place.
      def check
        Dir.mktmpdir("heapline-lint") do |directory|
          files.flat_map { |file| compile(file, File.join(directory, "checked.o")) }
        end
      end

      def compile(file, output)
        compiler = file.end_with?(".cpp") ? CFlags.cxx(@compiler) : @compiler
        complaints(compiler, "-c", "-o", output, "-O2", *CFlags::WARNINGS, *CFlags.for_source(file), file)
      end
    end

    # What must know the processor compiles for 64-bit ARM without a warning; the tests there take an emulated machine
    # (rake matrix[aarch64]).
    class CrossCompiler < Compiler
      def initialize(root = ROOT)
        super("aarch64-linux-gnu-gcc", root)
      end

      private

      def patterns
        %w[ext/heapline_core/**/*.c ext/heapline_replay/*.c
           ext/heapline/{injector,process_copy,signal_frame,tracer,visitor}.c]
      end
    end

    # The C sources are laid out as .clang-format says.
    class ClangFormat < Gate
      private

      def patterns
        %w[ext/**/*.{c,h,cpp,hpp} test/c/**/*.{c,h} test/cpp/**/*.{cpp,hpp} test/programs/**/*.{c,h}
           test/fuzz/**/*.{c,cpp}]
      end

      def check
        complaints("clang-format", "--dry-run", "--Werror", "--style=file", *files)
      end
    end

    # What a second reader finds in the core: leaks, null dereferences, undefined behaviour.
    class Cppcheck < Gate
      private

      def patterns
        %w[ext/**/*.{c,cpp}]
      end

      def check
        c, cpp = files.partition { |file| file.end_with?(".c") }
        read("--std=c11", "-Iext/heapline_core", "-Iext/heapline", *c) +
          (cpp.empty? ? [] : read("--std=c++17", "-Iext/heapline_heap", *cpp))
      end

      def read(*arguments)
        # Of files for each kind of processor it would take one for another.
        complaints("cppcheck", "--quiet", "--error-exitcode=1", "--inline-suppr", "--enable=warning,portability",
                   "-U__aarch64__",
                   "--suppress=missingIncludeSystem", *arguments)
      end
    end

    # Ruby as .rubocop.yml says.
    class Rubocop < Gate
      private

      def patterns
        %w[{lib,test,rakelib,bench,examples}/**/*.rb rakelib/*.rake Rakefile *.gemspec exe/*]
      end

      def check
        in_bundle("rubocop", "--force-exclusion", "--format", "simple", "--no-server")
      end
    end

    # The signatures in sig/ agree with each other and with Ruby's own.
    class Rbs < Gate
      private

      def patterns
        %w[sig/**/*.rbs]
      end

      def check
        in_bundle("rbs", "-I", "sig", "validate")
      end
    end

    # The scripts do what they seem to do.
    class Shellcheck < Gate
      private

      def patterns
        %w[script/* .ci/run]
      end

      def check
        complaints("shellcheck", *files)
      end
    end

    def self.all
      [Compiler.new("gcc"), Compiler.new(CFlags.clang), CrossCompiler.new, ClangFormat.new, Cppcheck.new, Rubocop.new,
       Rbs.new, Shellcheck.new, AssetsGate.new, InputsGate.new]
    end
  end
end
