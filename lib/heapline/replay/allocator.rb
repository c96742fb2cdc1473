# frozen_string_literal: true

require "rbconfig"
require_relative "../files/input"
require_relative "../errors"

module Heapline
  class Replay
    # An allocator to replay with: libc's own, or a library that is preloaded.
    # @api private
    class Allocator
      # File names, and the packages that bring them: by apt-get, dnf and apk.
      KNOWN = {
        "glibc" => nil,
        "jemalloc" => { files: %w[libjemalloc.so.2], packages: %w[libjemalloc2 jemalloc jemalloc] },
        "tcmalloc" => { files: %w[libtcmalloc_minimal.so.4 libtcmalloc.so.4],
                        packages: %w[libtcmalloc-minimal4 gperftools-libs gperftools] },
        "mimalloc" => { files: %w[libmimalloc.so.2 libmimalloc.so.2.[0-9]* libmimalloc.so.3],
                        packages: %w[libmimalloc2.0 mimalloc mimalloc2] }
      }.freeze
      NAMES = KNOWN.keys.freeze
      DIRECTORIES = ["/usr/lib/#{RbConfig::CONFIG["target_cpu"]}-linux-gnu", "/usr/lib64", "/usr/lib",
                     "/usr/local/lib64", "/usr/local/lib"].freeze
      # Settings by what they begin with, and the allocator that reads them.
      SETTINGS = { "MALLOC_CONF" => "jemalloc", "_RJEM_MALLOC_CONF" => "jemalloc", "MALLOC_" => "glibc",
                   "GLIBC_TUNABLES" => "glibc", "TCMALLOC_" => "tcmalloc", "MIMALLOC_" => "mimalloc" }.freeze
      ELF = "\x7fELF".b
      # The bytes of an ELF file's beginning that say for which machine it is: class and byte order, then the machine.
      MACHINE = [4..5, 18..19].freeze

      # name: of KNOWN, or the file's; path: of the library, nil for libc's own
      attr_reader :name, :path

      # `word`: one of NAMES, or the path of a library. Raises Error where there is none.
      def self.find(word, directories: DIRECTORIES)
        return new("glibc", nil) if word == "glibc"
        return new(word, installed(word, directories) || raise(Error, missing(word))) if KNOWN.key?(word)
        raise Error, unknown(word) unless word.include?("/") || File.exist?(word)

        new(File.basename(word), File.expand_path(word)).tap(&:verify)
      end

      # Those of NAMES that are here, and the words for those that are not. first: which of them goes before the others,
      # as it calls itself ("jemalloc 5.3.0").
      def self.all(first: nil, directories: DIRECTORIES)
        here, absent = NAMES.partition { |name| name == "glibc" || installed(name, directories) }
        here = here.partition { |name| first.to_s.start_with?(name) }.flatten
        [here.map { |name| find(name, directories: directories) }, absent.map { |name| missing(name) }]
      end

      def self.installed(name, directories)
        patterns = KNOWN.fetch(name)[:files]
        directories.product(patterns).lazy.flat_map { |directory, file| Dir[File.join(directory, file)] }.first
      end

      def self.missing(name)
        debian, fedora, alpine = KNOWN.fetch(name)[:packages]
        "#{name} is not installed: apt-get install #{debian}, dnf install #{fedora}, apk add #{alpine}"
      end

      def self.unknown(word)
        "no such allocator: #{word}; there are #{NAMES.join(", ")}, or give the path of a library"
      end
      private_class_method :installed, :missing, :unknown

      def initialize(name, path)
        @name = name
        @path = path
        freeze
      end

      # The one of NAMES that reads this environment variable, or nil.
      def self.reader(setting)
        SETTINGS.find { |beginning, _| setting.start_with?(beginning) }&.last
      end

      # Does it read this environment variable? What belongs to nobody is for all.
      def reads?(setting)
        [nil, name].include?(Allocator.reader(setting)) || !NAMES.include?(name)
      end

      # Raises Error where the file cannot be what is preloaded.
      def verify
        problem = problem()
        raise Error, "#{path} #{problem}" if problem
      end

      private

      def problem
        return "is not there" unless File.exist?(path)
        return "is no file" unless File.file?(path)
        return "cannot be preloaded: there is a space or a colon in its path" if path.match?(/[\s:]/)

        beginning = Input.open(path, pipe: false) { |input| input.beginning(20) }
        return "is no shared library (no ELF file)" unless beginning.start_with?(ELF) && beginning.bytesize == 20

        "is for another machine" unless MACHINE.all? { |part| beginning[part] == own[part] }
      end

      def own
        Input.beginning("/proc/self/exe", 20)
      end
    end

    # Environment variables to try: NAME=VALUE, or NAME=VALUE,VALUE for several values. A value with a colon in it
    # (MALLOC_CONF, GLIBC_TUNABLES) has commas of its own and is taken as it is.
    class Settings
      WORD = /\A([A-Za-z_][A-Za-z0-9_]*)=([^\0]+)\z/

      def initialize
        @values = {}
      end

      # Raises UsageError.
      def add(word)
        name, text = word.match(WORD)&.captures
        raise UsageError, "not a setting: #{word}; say NAME=VALUE" unless name
        raise UsageError, "#{name} is not for an allocator: give the library to --allocator" if name.start_with?("LD_")

        @values[name] = [*@values[name], *(text.include?(":") ? [text] : text.split(","))].uniq
        self
      end

      # Raises UsageError where none of these Allocators reads one of the variables.
      def check(allocators)
        name = @values.keys.find { |each| allocators.none? { |allocator| allocator.reads?(each) } } or return
        reader = Allocator.reader(name)
        raise UsageError, "#{name} is a setting of #{reader}, which is not replayed: " \
                          "give --allocator #{[*allocators.map(&:name), reader].join(",")}"
      end

      # Array of Hashes, what to run an Allocator with: nothing, then each combination of the values that it reads.
      def for(allocator)
        own = @values.select { |name, _| allocator.reads?(name) }
        return [{}] if own.empty?

        first, *rest = own.values
        [{}, *first.product(*rest).map { |values| own.keys.zip(values).to_h }]
      end
    end
  end
end
