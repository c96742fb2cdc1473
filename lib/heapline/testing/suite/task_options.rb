# frozen_string_literal: true

require_relative "../../command/installation"
require_relative "../../files/input"

module Heapline
  module Suite
    # What the Rake tasks have beyond those that they descend from: the options of `heapline test`.
    module TaskOptions
      # Arrays or Strings and numbers, as on the command line of `heapline test`. suppressions: a path, or an Array.
      attr_accessor :by, :sort, :top, :output, :suppressions
      # fail_on:     unless set, growth, and where there is a binary_name, leaks. nil: nothing fails but the tests.
      # binary_name: of the extension under test ("parser"), whose lost blocks alone are shown; unless set, that of the
      #              extension which the gemspec builds. nil: all extensions' are.
      attr_writer :fail_on, :binary_name

      def fail_on
        return @fail_on if defined?(@fail_on)

        binary_name ? %w[growth leaks] : %w[growth]
      end

      def binary_name
        @binary_name = BinaryName.of(Dir.pwd) unless defined?(@binary_name)
        @binary_name
      end

      # The words before the command that runs the tests.
      def heapline_words
        given = { "--fail-on" => fail_on && Array(fail_on).join(","), "--library" => library, "--by" => by,
                  "--sort" => sort, "--top" => top, "--output" => output }
        options = given.reject { |_, value| value.nil? || value == "" }.flat_map { |name, value| [name, value.to_s] }
        options.concat(Array(suppressions).flat_map { |path| ["--suppressions", path] })
        [*Command::Installation.own_process("test"), *options, "--"]
      end

      private

      def library
        binary_name && "\\A(lib)?(#{Array(binary_name).map { |name| Regexp.escape(name) }.join("|")})\\.so"
      end
    end

    # What the extensions that a gem builds are called: "parser" of parser.so. From the gemspec's extensions, whose
    # extconf.rb names its Makefile.
    module BinaryName
      MAKEFILE = /create_(?:rust_)?makefile[\s(]+["']([^"'#]+)["']/

      class << self
        # Array of Strings for the gemspec in `directory`; nil where it has none, or builds none.
        def of(directory)
          names = specifications(directory).flat_map(&:extensions).filter_map do |path|
            name(File.expand_path(path, directory))
          end
          names.uniq unless names.empty?
        end

        private

        def specifications(directory)
          Dir.glob(File.join(directory, "*.gemspec")).filter_map { |path| Gem::Specification.load(path) }
        end

        # Where the Makefile is not named as plain text, the extension's directory mostly has its name.
        def name(extconf)
          return unless File.basename(extconf) == "extconf.rb" && Input.file?(extconf)

          File.basename(Input.text(extconf)[MAKEFILE, 1] || File.dirname(extconf))
        end
      end
    end
  end
end
