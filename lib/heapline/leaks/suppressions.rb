# frozen_string_literal: true

require_relative "../places/location"
require_relative "../files/input"

module Heapline
  module Leaks
    # Records that are known and not to be shown, in the two syntaxes that are in use:
    #
    # - LeakSanitizer's: `leak:PATTERN` hides a record with a frame whose function, source file or library has PATTERN
    # in
    #   it; * stands for anything, ^ and $ for the ends.
    # - Valgrind's: { name; Memcheck:Leak; match-leak-kinds: …; fun:, obj:, src: or ... for each frame from the
    # innermost
    #   on }. Suppressions of other tools and errors are passed over.
    class Suppressions
      # What one entry says: its name, the kinds that it is for, and a test of a stack's frames.
      Entry = Struct.new(:name, :kinds, :test)

      OTHER_SANITIZERS = %w[race thread mutex signal deadlock called_from_lib interceptor_via_fun].freeze
      KINDS = %i[definite indirect possible reachable].freeze
      # What is hidden always, each entry with its reason.
      SHIPPED = File.join(__dir__, "ruby.supp")
      # Valgrind begins with its own replacement of malloc; here a stack begins with its caller.
      ALLOCATORS = /\Afun:(malloc|calloc|realloc|reallocarray|memalign|posix_memalign|aligned_alloc|valloc|pvalloc|
                          _Zn[wa].*|operator[ ]new.*|\*alloc\*?)\z/x

      def self.read(paths)
        new(paths.flat_map { |path| parse(Input.text(path), path) })
      end

      # Array of Entry. Raises Error with the line of what is wrong.
      def self.parse(text, path)
        lines = text.lines.map(&:strip).each_with_index.map { |line, index| [line, index + 1] }
        lines.reject! { |line, _| line.empty? || line.start_with?("#") }
        entries = []
        until lines.empty?
          line, number = lines.shift
          entries << entry(line, lines, path, number)
        end
        entries.compact
      end

      def self.entry(line, lines, path, number)
        line == "{" ? valgrind(block(lines, path, number), path, number) : sanitizer(line, path, number)
      end

      def self.block(lines, path, number)
        last = lines.index { |line, _| line == "}" }
        raise Error, "#{path}:#{number}: this suppression has no end (a line with } alone)" unless last

        lines.shift(last + 1).first(last).map(&:first)
      end

      def self.sanitizer(line, path, number)
        kind, pattern = line.split(":", 2)
        return nil if OTHER_SANITIZERS.include?(kind)
        raise Error, "#{path}:#{number}: not understood: #{line.inspect}; write leak:PATTERN" unless kind == "leak"

        regexp = anchored(pattern.to_s)
        Entry.new(line, KINDS, ->(frames) { frames.any? { |frame| mentions?(frame, regexp) } })
      end

      def self.mentions?(frame, regexp)
        [frame.function, frame.file, frame.path].any? { |text| text&.match?(regexp) }
      end

      def self.valgrind(lines, path, number)
        name, error, *rest = lines
        return nil unless error.to_s.match?(/\A(\w+,)*Memcheck(,\w+)*:Leak\z/)

        kinds = rest.first.to_s[/\Amatch-leak-kinds:\s*(.+)/, 1]
        rest.shift if kinds
        rest.shift while rest.first&.match?(ALLOCATORS)
        patterns = rest.map { |line| frame_test(line, path, number) }
        Entry.new(name, kinds_of(kinds), ->(frames) { matches?(patterns, frames) })
      end

      def self.kinds_of(text)
        return KINDS if text.nil? || text == "all"

        text.split(",").map { |kind| kind.strip.to_sym }
      end

      # :any, or a lambda of a frame.
      def self.frame_test(line, path, number)
        return :any if line == "..."

        what, pattern = line.split(":", 2)
        regexp = whole(pattern.to_s)
        case what
        when "fun" then ->(frame) { frame.function&.match?(regexp) }
        when "obj" then ->(frame) { frame.path&.match?(regexp) }
        when "src" then ->(frame) { source?(frame, regexp) }
        else raise Error, "#{path}:#{number}: not understood in a suppression: #{line.inspect}"
        end
      end

      # With its line or without.
      def self.source?(frame, regexp)
        name = Places::BaseName.of(frame.file.to_s)
        name.match?(regexp) || "#{name}:#{frame.line}".match?(regexp)
      end

      # Do the patterns match the stack from its innermost frame on? Each is tried at all frames at which it may stand.
      def self.matches?(patterns, frames)
        patterns.reduce([0]) do |places, pattern|
          next (places.first..frames.size).to_a if pattern == :any

          places = places.select { |place| frames[place] && pattern.call(frames[place]) }.map(&:succ)
          return false if places.empty?

          places
        end
        true
      end

      # Wildcards as in LeakSanitizer.
      def self.anchored(pattern)
        inner = pattern.delete_prefix("^").delete_suffix("$")
        source = inner.split("*", -1).map { |part| Regexp.escape(part) }.join(".*")
        Regexp.new("#{"\\A" if pattern.start_with?("^")}#{source}#{"\\z" if pattern.end_with?("$")}")
      end

      # Wildcards as in Valgrind: * and ?.
      def self.whole(pattern)
        Regexp.new("\\A#{Regexp.escape(pattern).gsub("\\*", ".*").gsub("\\?", ".")}\\z")
      end
      private_class_method :entry, :block, :mentions?, :source?,
                           :sanitizer, :valgrind, :kinds_of, :frame_test, :matches?, :anchored, :whole

      def initialize(entries)
        @entries = entries.freeze
        @known = KINDS.to_h { |kind| [kind, {}.compare_by_identity] }
        freeze
      end

      # The Entry that hides this record, or nil. Many records have one Array of frames.
      def of(record)
        known = @known.fetch(record.kind)
        known.fetch(record.frames) { known[record.frames] = search(record.kind, record.frames) }
      end

      private

      def search(kind, frames)
        @entries.find { |entry| entry.kinds.include?(kind) && entry.test.call(frames) }
      end
    end
  end
end
