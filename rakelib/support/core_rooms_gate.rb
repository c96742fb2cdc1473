# frozen_string_literal: true

module Tasks
  # The rooms of ext/heapline_core: each is a folder, and includes and calls only what stands before it here; no two
  # files need each other. Each room's first file says what the room owns, what always holds in it, and what it uses.
  #
  # Calls are seen in the objects (`nm`). So a call by libc's name of what heapline interposes (mmap, munmap,
  # clock_gettime, execve …) is a call of the room interpose: below that it is a system call of our own.
  class CoreRoomsGate < Gate
    ROOMS = { "platform" => "platform.h", "allocator" => "real_malloc.h", "door" => "door.h",
              "state" => "guard.h", "flight" => "flight.h", "vm" => "ruby_vm.h", "account" => "lane.h",
              "record" => "recorder.h", "objects" => "objects.h", "leaks" => "leak_scan.h",
              "lifecycle" => "lifecycle.h", "interpose" => "interpose.h" }.freeze
    ORDER = ROOMS.keys.freeze
    CORE = "ext/heapline_core"
    PUBLIC = %w[heapline_core].freeze # what every room may include: the exported functions
    SAYS = { "owns" => /^ \*   owns: ./, "invariant" => /^ \*   invariant: ./, "uses" => /^ \*   uses: +(.*)$/ }.freeze

    # objects: the folder in which the core was compiled; nil: look at the sources alone
    def initialize(root = ROOT, objects: nil)
      super(root)
      @objects = objects
    end

    def name
      @objects ? "core-rooms-gate (includes and calls)" : "core-rooms-gate (includes)"
    end

    # Where `rake compile` leaves the objects.
    def self.built
      Dir[File.join(ROOT, "tmp", "*", "libheapline", RUBY_VERSION)].first || File.join(ROOT, "tmp")
    end

    private

    def patterns
      ["#{CORE}/**/*.{c,h}"]
    end

    def check
      return ["no object of #{CORE} in #{@objects}: rake compile"] if @objects && symbols.empty?

      strangers + arrows.flat_map { |arrow| up(*arrow) } + circles + ORDER.flat_map { |room| first_file(room) }
    end

    # A file and its header are one: "account/lane".
    def unit(path)
      path.delete_prefix("#{CORE}/").sub(/\.[ch]\z/, "")
    end

    def room(unit)
      unit[%r{\A(\w+)/}, 1]
    end

    def units
      @units ||= files.map { |file| unit(file) }.uniq
    end

    def strangers
      (units - PUBLIC).reject { |unit| ROOMS.key?(room(unit)) }
                      .map { |unit| "#{CORE}/#{unit} lies in no room; there are #{ORDER.join(", ")}" }
    end

    # ---- what needs what: [unit, the one that it needs, how] ----

    def arrows
      @arrows ||= (includes + calls).uniq.reject { |from, to, _| from == to || PUBLIC.include?(to) }
    end

    def includes
      files.flat_map do |file|
        included = lines(file).filter_map { |line| line[/\A#include "([^"]+)"/, 1] }
        included.map { |path| [unit(file), unit(path), "includes"] }
      end
    end

    def calls
      owners = symbols.flat_map { |unit, (defined, _)| defined.map { |symbol| [symbol, unit] } }.to_h
      symbols.flat_map do |unit, (_, needed)|
        needed.filter_map { |symbol| [unit, owners[symbol], "calls #{symbol} of"] if owners[symbol] }
      end
    end

    # unit => [names that it defines for others, names that it takes from others]
    def symbols
      @symbols ||= units.to_h { |unit| [unit, nm(unit)] }.compact
    end

    def nm(unit)
      object = @objects && File.join(@objects, "#{File.basename(unit)}.o")
      return unless object && File.exist?(object) && File.exist?(File.join(@root, CORE, "#{unit}.c"))

      found = Shell.capture("nm", object).last.lines.map(&:split).map { |fields| fields.last(2) }
      needed, defined = found.select { |type, _| type.match?(/[A-Zw]/) }.partition { |type, _| type.match?(/[Uw]/) }
      [defined, needed].map { |pairs| pairs.map(&:last) }
    end

    # ---- what is wrong ----

    def up(from, to, how)
      own, other = [from, to].map { |unit| ORDER.index(room(unit)) }
      own && other && other > own ? ["#{CORE}/#{from} #{how} #{to}, which stands above it"] : []
    end

    def circles
      require "tsort" # here: Ruby 4.1, which compiles by these tasks too, brings none
      needs = arrows.group_by(&:first).transform_values { |group| group.map { |arrow| arrow[1] } & units }
      each_needed = ->(unit, &found) { needs.fetch(unit, []).each(&found) }
      TSort.each_strongly_connected_component(units.method(:each), each_needed)
           .select { |circle| circle.size > 1 }
           .map { |circle| "#{circle.size} files need each other in a circle: #{circle.sort.join(", ")}" }
    end

    def first_file(room)
      path = "#{CORE}/#{room}/#{ROOMS.fetch(room)}"
      return [] if units.none? { |unit| room(unit) == room }
      return ["#{path} is not there: it says what the room owns"] unless files.include?(path)

      head = File.read(File.join(@root, path), encoding: "UTF-8")[%r{\A.*?\*/\n#ifndef}m].to_s
      return ["#{path} does not begin with \"The room #{room}.\""] unless head.include?("\n * The room #{room}.")

      missing = SAYS.reject { |_, pattern| head.match?(pattern) }.keys
      missing.map { |word| "#{path} does not say \"#{word}: …\" of the room" } + wrong_uses(path, room, head)
    end

    # It says what is so: every room that is used, no other.
    def wrong_uses(path, room, head)
      said = head[SAYS["uses"], 1].to_s.scan(/\w+/) - ["none"]
      used = (arrows.filter_map { |from, to, _| room(to) if room(from) == room }.uniq & ORDER) - [room]
      (used - said).map { |other| "#{path} does not say that the room uses #{other}" } +
        (@objects ? said - used : []).map { |other| "#{path} says that the room uses #{other}, which it does not" }
    end

    def lines(file)
      File.readlines(File.join(@root, file), encoding: "UTF-8")
    end
  end
end
