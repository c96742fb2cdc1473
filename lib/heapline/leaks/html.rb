# frozen_string_literal: true

require_relative "findings"
require_relative "../version"
require_relative "loss_words"
require_relative "../figures/units"
require_relative "../page/data"
require_relative "../page/document"

module Heapline
  module Leaks
    # All that the page of a search for lost blocks shows, as plain Hashes and Arrays for JSON;
    # assets/src/leaks/data.ts reads it. Names are inert.
    class PageData
      # The largest records of each class; the rest is counted.
      RECORDS = 2000
      # Of a Ruby stack the nearest.
      RUBY_FRAMES = 100
      KINDS = Findings::KINDS

      # kinds: of the records that are in it.
      def initialize(kinds:)
        @kinds = kinds
      end

      # The Hash for Leaks::Findings.
      def of(leaks)
        @strings = Page::Strings.new
        @frames = {}
        shown, left = choose(leaks)
        records = records(shown)
        { version: VERSION, title: title(leaks), facts: leaks.searches.map { |search| LossWords.search(search) },
          tiles: tiles(leaks), notes: LossWords.remarks(leaks), dropped: LossWords.dropped(leaks), records: records,
          frames: frames, strings: @strings.all, left_out: left }
      end

      private

      def title(leaks)
        "pid #{leaks.searches.map(&:pid).join(", ")}"
      end

      # [records, number of those that are left out]
      def choose(leaks)
        all = @kinds.map { |kind| leaks.of(kind) }
        shown = all.flat_map { |records| records.first(RECORDS) }
        [shown, all.sum(&:size) - shown.size]
      end

      # Array of [name, figure, what it means or nil].
      def tiles(leaks)
        @kinds.map do |kind|
          blocks = leaks.public_send("#{kind}_blocks")
          [LossWords::TITLES[kind], Units.bytes(leaks.public_send("#{kind}_bytes")),
           "#{Units.count(blocks)} block#{"s" if blocks != 1}"]
        end
      end

      # Columns.
      def records(shown)
        figures = %i[bytes blocks led_bytes led_blocks pid].to_h { |name| [name, shown.map(&name)] }
        { kind: shown.map { |record| KINDS.index(record.kind) }, **figures, **texts(shown),
          first: shown.map(&:first_generation), last: shown.map(&:last_generation),
          addresses: shown.map { |record| record.addresses.map { |address| format("0x%x", address) } },
          frames: shown.map { |record| stack(record).map { |frame| @frames[frame] ||= @frames.size } } }
      end

      # C functions (NativeFrame), and on what they stand: lines of Ruby (Location).
      def stack(record)
        record.frames + record.ruby_frames.first(RUBY_FRAMES)
      end

      def texts(shown)
        { place: ->(record) { record.location.to_s }, label: lambda(&:label),
          library: lambda(&:library), tag: lambda(&:tag), culprit: ->(record) { record.culprit&.name },
          owner: ->(record) { record.culprit&.library } }.transform_values do |text|
          shown.map { |record| @strings.number(text.call(record)) }
        end
      end

      def frames
        rows = @frames.keys.map { |frame| frame.is_a?(Places::Location) ? ruby_frame(frame) : native_frame(frame) }
        columns = rows.transpose
        %i[name place library].to_h { |name| [name, (columns.shift || []).map { |text| @strings.number(text) }] }
                              .merge(inlined: columns.shift || [])
      end

      def native_frame(frame)
        [frame.name, (frame.place if frame.file), frame.library, frame.inlined ? 1 : 0]
      end

      def ruby_frame(place)
        [place.label || "(Ruby)", place.to_s, nil, 0]
      end
    end

    # Lost blocks as one HTML file that needs nothing else; see Page::Document.
    class Html
      # kinds: of the records that are in it.
      def initialize(kinds: %i[definite indirect possible])
        @data = PageData.new(kinds: kinds)
      end

      # Write the page of `leaks` (Leaks::Findings) to `io`.
      def render(leaks, io)
        data = @data.of(leaks)
        Page::Document.new("leaks.js").write(io, title: "lost blocks · #{data[:title]}", data: data)
      end
    end
  end
end
