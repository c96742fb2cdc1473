# frozen_string_literal: true

require "etc"

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
        %w[ext/**/*.c test/c/**/*.c test/programs/**/*.c test/fuzz/**/*.c]
      end

      # Compiled for real: with -fsyntax-only, or without optimisation, gcc does not look for half of what it can
      # warn about.
      def check
        files.flat_map do |file|
          complaints(@compiler, "-c", "-o", File::NULL, "-O2", *CFlags::WARNINGS, *CFlags.for_source(file), file)
        end
      end
    end

    # The C sources are laid out as .clang-format says.
    class ClangFormat < Gate
      private

      def patterns
        %w[ext/**/*.{c,h} test/c/**/*.{c,h} test/programs/**/*.{c,h} test/fuzz/**/*.c]
      end

      def check
        complaints("clang-format", "--dry-run", "--Werror", "--style=file", *files)
      end
    end

    # What a second reader finds in the core: leaks, null dereferences, undefined behaviour.
    class Cppcheck < Gate
      private

      def patterns
        %w[ext/**/*.c]
      end

      def check
        complaints("cppcheck", "--quiet", "--error-exitcode=1", "--std=c11", "--inline-suppr",
                   "--enable=warning,portability", "--suppress=missingIncludeSystem", "-Iext/heapline_core",
                   "-Iext/heapline", *files)
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
      [Compiler.new("gcc"), Compiler.new(CFlags.clang), ClangFormat.new, Cppcheck.new, Rubocop.new, Rbs.new,
       Shellcheck.new, AssetsGate.new]
    end
  end
end
