# frozen_string_literal: true

require "zlib"
require_relative "../version"
require_relative "inert"
require_relative "protobuf"
require_relative "selection"

module Heapline
  module Format
    # A snapshot as a gzipped profile for pprof, in the layout of https://github.com/google/pprof/blob/main/proto/profile.proto
    # (the numbers of fields below are that file's). Equal snapshots give equal bytes.
    #
    # Each site is one sample: its Ruby line, and as the leaf the library that called malloc where that was not Ruby
    # itself. Its labels are tag, gem and kind. Ruby objects, where they were accounted, are samples of their own, one
    # for each class at a site, with the bytes of their slots: their kind is object, and their label class says which.
    # Names are inert, since `pprof -top` prints them as they are.
    class Pprof
      CONTENT_TYPE = "application/vnd.google.protobuf+gzip"
      # [type, unit, figure of Site], in the order of Go's heap profiles.
      SAMPLE_TYPES = [%w[alloc_objects count allocations], %w[alloc_space bytes bytes_allocated],
                      %w[inuse_objects count live_blocks], %w[inuse_space bytes live_bytes]].freeze
      # What it writes is no text.
      BINARY = true
      DEFAULT_TYPE = "inuse_space"
      # zlib: deflate behind a gzip header without time and name.
      GZIP = Zlib::MAX_WBITS + 16
      MAPPING = 1

      # The defaults write every site. default: the sample type that is shown unless another is asked for.
      def initialize(top: 0, sort: :live_bytes, min: 0, default: DEFAULT_TYPE)
        @default = default
        @selection = Selection.new(top: top, sort: sort, min: min)
      end

      # Write the profile to `io`, which must not change its bytes (binmode).
      def render(snapshot, io)
        deflate = Zlib::Deflate.new(Zlib::DEFAULT_COMPRESSION, GZIP)
        io.write(deflate.deflate(profile(snapshot), Zlib::FINISH))
      ensure
        deflate&.close
      end

      # The uncompressed profile (binary String).
      def profile(snapshot)
        @strings = { "" => 0 }
        @numbers = {}
        @functions = {}
        @locations = {}
        message = Protobuf.new
        types.each { |type, unit| message.message(1, value_type(type, unit)) }
        samples(snapshot) { |site| message.message(2, sample(site)) }
        message.message(3, mapping(snapshot))
        @locations.each { |key, id| message.message(4, location(*key, id)) }
        @functions.each { |key, id| message.message(5, function(*key, id)) }
        about(message, snapshot)
        @strings.each_key { |text| message.message(6, text) }
        message.bytes
      end

      private

      def types
        SAMPLE_TYPES
      end

      def samples(snapshot, &)
        @selection.of(snapshot.sites).each(&)
        @selection.of(snapshot.objects.sites).each(&) if snapshot.objects
      end

      def value_type(type, unit)
        Protobuf.new.integer(1, string(type)).integer(2, string(unit)).bytes
      end

      def sample(site)
        message = Protobuf.new.integers(1, frames(site.location))
        message.integers(2, SAMPLE_TYPES.map { |_, _, figure| site.public_send(figure) })
        labels(site).each { |key, value| message.message(3, label(key, value)) if value }
        message.bytes
      end

      def labels(site)
        { "tag" => site.tag, "gem" => site.location.gem, "kind" => site.kind&.to_s,
          "class" => (site.name if site.kind == :object) }
      end

      def label(key, value)
        Protobuf.new.integer(1, string(key)).integer(2, string(value)).bytes
      end

      # Numbers of the sample's locations, the leaf first.
      def frames(place)
        return [frame(place.special)] if place.special
        return [frame(place.label || place.to_s, place.library || "ruby", 0, place.offset)] unless place.path

        line = frame(place.label || base_name(place.path), place.path, place.lineno)
        place.via ? [frame(place.via, place.library_path || place.via), line] : [line]
      end

      def frame(name, file = "", line = 0, address = 0)
        key = [number(@functions, [string(name), string(file)]), line || 0, address || 0]
        number(@locations, key)
      end

      def location(function, line, address, id)
        inner = Protobuf.new.integer(1, function).integer(2, line).bytes
        Protobuf.new.integer(1, id).integer(2, MAPPING).integer(3, address).message(4, inner).bytes
      end

      # Without a system name: pprof takes what has one for C++ and cuts "<class:Cache>" and "Array#each(2)" short.
      def function(name, file, id)
        Protobuf.new.integer(1, id).integer(2, name).integer(4, file).bytes
      end

      # One mapping that says that there is nothing to symbolize.
      def mapping(snapshot)
        name = string(snapshot.command&.first || "ruby")
        message = Protobuf.new.integer(1, MAPPING).integer(5, name)
        (7..9).each { |field| message.integer(field, 1) }
        message.bytes
      end

      def about(message, snapshot)
        message.integer(9, nanoseconds(snapshot.ended_at || snapshot.taken_at))
        message.integer(10, ((snapshot.duration || 0) * 1_000_000_000).round)
        message.message(11, value_type("space", "bytes")).integer(12, 1)
        message.integers(13, comments(snapshot).map { |text| string(text) })
        message.integer(14, string(@default))
      end

      def comments(snapshot)
        ["heapline #{VERSION}", "command: #{snapshot.command&.join(" ")}", "pid: #{snapshot.pid}",
         "ruby: #{snapshot.ruby}", "allocator: #{snapshot.allocator}",
         *snapshot.failures.map { |name, count| "#{name}: #{count}" }]
      end

      # The number of `text` in the string table. Each text is made inert once.
      def string(text)
        @numbers[text] ||= (@strings[Inert.text(text)] ||= @strings.size)
      end

      # The number, from 1, of `key` in a table.
      def number(table, key)
        table[key] ||= table.size + 1
      end

      def base_name(path)
        path.b.rpartition("/").last.force_encoding(Encoding::UTF_8)
      end

      def nanoseconds(time)
        time ? (time.to_i * 1_000_000_000) + time.nsec : 0
      end
    end
  end
end
