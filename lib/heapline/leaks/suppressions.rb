# frozen_string_literal: true

require_relative "../places/location"
require_relative "../places/object_file"
require_relative "../files/input"

module Heapline
  module Leaks
    # Records that are known and not to be shown, in the two syntaxes that are in use:
    #
    # - LeakSanitizer's: `leak:PATTERN` hides a record with a frame whose function, source file or library has PATTERN
    #   in it; * stands for anything, ^ and $ for the ends.
    # - Valgrind's: { name; Memcheck:Leak; match-leak-kinds: …; fun:, obj:, src: or ... for each frame from the
    #   innermost on }. Suppressions of other tools and errors are passed over.
    #
    # A function goes by all names that its address has: "strdup" is __GI___strdup in debug information, and a function
    # of C++ has its name for the linker beside the one that is shown.
    class Suppressions
      # What one entry says: its name, the kinds that it is for, and a test of a stack's frames and of what names them.
      Entry = Struct.new(:name, :kinds, :test, :place)
      # A line of a file, and its number.
      Line = Struct.new(:text, :number)

      OTHER_SANITIZERS = %w[race thread mutex signal deadlock called_from_lib interceptor_via_fun].freeze
      KINDS = %i[definite indirect possible reachable].freeze
      MATCHES = "match-leak-kinds:"
      # What Memcheck finds beside lost blocks.
      OTHER_ERRORS = /\A(Addr\d*|Value\d*|Cond|Param|User|CoreMem|Jump|Free|Overlap|Mempool|ReallocZero|FishyValue|
                         BadAlign|BadSize)\z/x
      # What is hidden always, each entry with its reason.
      SHIPPED = File.join(__dir__, "ruby.supp")
      # Valgrind begins with its own replacement of malloc; here a stack begins with its caller, and which function of
      # the family was called is not known.
      ALLOCATORS = /\Afun:(malloc|calloc|realloc|reallocarray|memalign|posix_memalign|aligned_alloc|valloc|pvalloc|
                          _Zn[wa].*|operator[ ]new.*|\*alloc\*?)\z/x
      BYTE_ORDER_MARK = "\uFEFF"

      def self.read(paths)
        new(paths.flat_map { |path| parse(Input.text(path), path) })
      end

      # Array of Entry. Raises Error with the line of what is wrong.
      def self.parse(text, path)
        lines = text.delete_prefix(BYTE_ORDER_MARK).lines.map.with_index(1) { |line, at| Line.new(line.strip, at) }
        lines.reject! { |line| line.text.empty? || line.text.start_with?("#") }
        entries = []
        until lines.empty?
          line = lines.shift
          found = line.text == "{" ? valgrind(block(lines, path, line), path, line) : sanitizer(line, path)
          entries << found if found
        end
        entries
      end

      def self.refuse(path, line, words)
        raise Error, "#{path}:#{line.number}: #{words}"
      end

      def self.block(lines, path, first)
        last = lines.index { |line| line.text == "}" }
        refuse(path, first, "this suppression has no end (a line with } alone)") unless last

        lines.shift(last + 1).first(last)
      end

      def self.sanitizer(line, path)
        kind, pattern = line.text.split(":", 2)
        return nil if OTHER_SANITIZERS.include?(kind)

        refuse(path, line, "not understood: #{line.text.inspect}; write leak:PATTERN") unless kind == "leak"
        refuse(path, line, "there is no pattern: this would hide all") if pattern.to_s.match?(/\A\^?\$?\z/)
        regexp = anchored(pattern)
        Entry.new(line.text, KINDS, ->(frames, names) { frames.any? { |frame| mentions?(frame, names, regexp) } },
                  "#{path}:#{line.number}")
      end

      def self.mentions?(frame, names, regexp)
        [*names.call(frame), frame.file, frame.path].any? { |text| text&.match?(regexp) }
      end

      # first: the line with {.
      def self.valgrind(lines, path, first)
        name, error, *rest = lines
        return nil unless leak?(error || first, path)

        kinds = rest.first&.text.to_s.start_with?(MATCHES) ? kinds_of(rest.shift, path) : KINDS
        rest.shift while rest.first&.text&.match?(ALLOCATORS)
        refuse(path, first, "no frame of a caller of malloc: this would hide all") if rest.empty?
        patterns = rest.map { |line| frame_test(line, path) }
        Entry.new(name.text, kinds, ->(frames, names) { matches?(patterns, frames, names) }, "#{path}:#{first.number}")
      end

      # Is the error that this line names a lost block?
      def self.leak?(line, path)
        tools, error = line.text.split(":", 2)
        memcheck = tools.split(",").include?("Memcheck")
        return true if memcheck && error == "Leak"
        return false if error && (memcheck ? error.match?(OTHER_ERRORS) : error != "Leak")

        refuse(path, line, "not understood: #{line.text.inspect}; write Memcheck:Leak")
      end

      def self.kinds_of(line, path)
        words = line.text.delete_prefix(MATCHES).split(",").map { |word| word.strip.to_sym }
        return KINDS if words == [:all]

        wrong = (words - KINDS - [:none]).first
        refuse(path, line, "no such kind: #{wrong}; there are #{KINDS.join(", ")}, all and none") if wrong
        words
      end

      # :any, or a lambda of a frame and of what names it.
      def self.frame_test(line, path)
        return :any if line.text == "..."

        what, pattern = line.text.split(":", 2)
        regexp = whole(pattern.to_s)
        case what
        when "fun" then ->(frame, names) { names.call(frame).any? { |name| name.match?(regexp) } }
        when "obj" then ->(frame, _) { frame.path&.match?(regexp) }
        when "src" then ->(frame, _) { source?(frame, regexp) }
        else refuse(path, line, "not understood in a suppression: #{line.text.inspect}")
        end
      end

      # With its line or without.
      def self.source?(frame, regexp)
        name = Places::BaseName.of(frame.file.to_s)
        name.match?(regexp) || "#{name}:#{frame.line}".match?(regexp)
      end

      # Do the patterns match the stack from its innermost frame on? Each is tried at all frames at which it may stand.
      def self.matches?(patterns, frames, names)
        patterns.reduce([0]) do |places, pattern|
          next (places.first..frames.size).to_a if pattern == :any

          places = places.select { |place| frames[place] && pattern.call(frames[place], names) }.map(&:succ)
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
      private_class_method :refuse, :block, :mentions?, :source?, :leak?,
                           :sanitizer, :valgrind, :kinds_of, :frame_test, :matches?, :anchored, :whole

      def initialize(entries)
        @entries = entries.freeze
        @known = KINDS.to_h { |kind| [kind, {}.compare_by_identity] }
        @names = {}.compare_by_identity
        @objects = Hash.new { |objects, path| objects[path] = Places::ObjectFile.new(path) }
        freeze
      end

      # The Entry that hides this record, or nil. Many records have one Array of frames.
      def of(record)
        known = @known.fetch(record.kind)
        known.fetch(record.frames) { known[record.frames] = search(record.kind, record.frames) }
      end

      # Those that hid no record so far (Array of Entry), but for what is shipped.
      def unused
        used = @known.values.flat_map(&:values).compact
        @entries.reject { |entry| used.include?(entry) || entry.place.start_with?(SHIPPED) }
      end

      private

      def search(kind, frames)
        @entries.find { |entry| entry.kinds.include?(kind) && entry.test.call(frames, method(:names)) }
      end

      # All names of a frame's function. One that was inlined has no address of its own.
      def names(frame)
        @names[frame] ||= begin
          own = frame.path && frame.offset && !frame.inlined
          [*frame.function, *(@objects[frame.path].aliases(frame.offset) if own)].uniq
        end
      end
    end
  end
end
