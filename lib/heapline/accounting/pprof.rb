# frozen_string_literal: true

require "zlib"
require_relative "../version"
require_relative "../terminal/inert"
require_relative "../figures/site_figures"
require_relative "../table/selection"
require_relative "flight_rows"

module Heapline
  module Accounting
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
      SAMPLE_TYPES = Figures::SiteFigures::ALL.select(&:sample).sort_by(&:sample)
                                              .map { |figure| [figure.sample, figure.unit.to_s, figure.figure] }.freeze
      # What it writes is no text.
      BINARY = true
      DEFAULT_TYPE = "inuse_space"
      # zlib: deflate behind a gzip header without time and name. At its best speed: the default takes six times as
      # long, a third of the whole, and a million sites are 1 % smaller.
      GZIP = Zlib::MAX_WBITS + 16
      MAPPING = 1

      # The defaults write every site. default: the sample type that is shown unless another is asked for.
      def initialize(top: 0, sort: :live_bytes, min: 0, default: DEFAULT_TYPE)
        @default = default
        @selection = Table::Selection.new(top: top, sort: sort, min: min)
      end

      # Write the profile to `io`, which must not change its bytes (binmode).
      def render(snapshot, io)
        deflate = Zlib::Deflate.new(Zlib::BEST_SPEED, GZIP)
        profile(snapshot) { |bytes| io.write(deflate.deflate(bytes)) }
        io.write(deflate.finish)
      ensure
        deflate&.close
      end

      # Yields the uncompressed profile in pieces (binary Strings).
      def profile(snapshot, &)
        require "heapline/native"
        @profile = Native::Profile.new
        yield message { |head| types.each { |type, unit| head.message(1, value_type(type, unit)) } }
        samples(snapshot, &)
        yield message { |place| place.message(3, mapping(snapshot)) }
        @profile.tables(MAPPING, &)
        yield message { |rest| about(rest, snapshot) }
        @profile.strings(&)
      end

      private

      def types
        SAMPLE_TYPES
      end

      def message(&)
        Protobuf.new.tap(&).bytes
      end

      # The sites of a flight file: there may be a million.
      def written_samples(snapshot, &)
        names = FlightRows.new([], [], {}) { |value| value ? Inert.text(value) : "" }
        @profile.samples(snapshot.written, SAMPLE_TYPES.map(&:last), names, &)
      ensure
        snapshot.written.release
      end

      # Yields samples as bytes.
      def samples(snapshot, &)
        return written_samples(snapshot, &) if snapshot.written

        each_sample(@selection.of(snapshot.sites), &)
        each_sample(@selection.of(snapshot.objects.sites), &) if snapshot.objects
      end

      def each_sample(sites)
        sites.each { |site| yield message { |one| one.message(2, sample(site)) } }
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
        value = string(value)
        Protobuf.new.integer(1, string(key)).integer(2, value).bytes
      end

      # Numbers of the sample's locations, the leaf first.
      def frames(place)
        return [frame(place.special)] if place.special
        return [frame(place.label || place.to_s, place.library || "ruby", 0, place.offset)] unless place.path

        line = frame(place.label || base_name(place.path), place.path, place.lineno)
        place.via ? [frame(place.via, place.library_path || place.via), line] : [line]
      end

      def frame(name, file = "", line = 0, address = 0)
        @profile.location(Inert.text(name), Inert.text(file), line || 0, address || 0)
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

      # The number of `text` in the string table.
      def string(text)
        @profile.string(Inert.text(text))
      end

      def base_name(path)
        path.b.rpartition("/").last.force_encoding(Encoding::UTF_8)
      end

      def nanoseconds(time)
        time ? (time.to_i * 1_000_000_000) + time.nsec : 0
      end
    end

    # Messages in protobuf's wire format (https://protobuf.dev/programming-guides/encoding), as far as a profile needs
    # it: integers, strings, messages and packed lists of integers. A message is a binary String that grows; give its
    # `bytes` to the message that holds it.
    class Protobuf
      VARINT = 0
      LENGTH = 2
      LOW = 0x7f
      MORE = 0x80
      # Negative numbers are written as what they are in 64 bits of two's complement.
      WORD = (1 << 64) - 1

      attr_reader :bytes

      def initialize
        @bytes = String.new(encoding: Encoding::BINARY)
      end

      # An int64, uint64 or bool field (true is 1); 0, the default, is left out.
      def integer(field, number)
        return self if number.zero?

        varint((field << 3) | VARINT)
        varint(number)
      end

      # A string or message field; the elements of a list may be empty.
      def message(field, content)
        varint((field << 3) | LENGTH)
        varint(content.bytesize)
        @bytes << content.b
        self
      end

      # A packed list of integers.
      def integers(field, numbers)
        list = Protobuf.new
        numbers.each { |number| list.varint(number) }
        message(field, list.bytes)
      end

      # A bare number of 7 bits a byte, the low ones first.
      def varint(number)
        number &= WORD
        while number > LOW
          @bytes << ((number & LOW) | MORE)
          number >>= 7
        end
        @bytes << number
        self
      end
    end
  end
end
