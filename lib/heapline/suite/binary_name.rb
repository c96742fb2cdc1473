# frozen_string_literal: true

module Heapline
  module Suite
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
          return unless File.basename(extconf) == "extconf.rb" && File.file?(extconf)

          File.basename(File.read(extconf)[MAKEFILE, 1] || File.dirname(extconf))
        end
      end
    end
  end
end
