# frozen_string_literal: true

module Heapline
  # One text of which a block left several Strings behind. A frozen plain value.
  #
  # value::     the text, cut after LONGEST characters
  # times::     Strings that have it
  # bytes::     bytes of one
  # locations:: Hash of "app.rb:12" => how many were made there, the most first
  RepeatedString = Struct.new(:value, :times, :bytes, :locations, keyword_init: true) do
    def initialize(**fields)
      super
      freeze
    end

    # Bytes that would be saved if there was one of them.
    def wasted_bytes
      bytes * (times - 1)
    end
  end

  # From Strings to what is there twice.
  class RepeatedString
    LONGEST = 200
    MOST = 100

    # strings: Array of [String, location]. Array of the MOST that waste most, or are there most often.
    def self.of(strings)
      groups = strings.group_by(&:first).reject { |_, same| same.size < 2 }
      all = groups.map { |value, same| made(value, same.map(&:last)) }
      all.max_by(MOST) { |one| [one.wasted_bytes, one.times] }
    end

    def self.made(value, locations)
      new(value: value[0, LONGEST].freeze, times: locations.size, bytes: value.bytesize,
          locations: locations.tally.sort_by { |_, count| -count }.to_h.freeze)
    end
    private_class_method :made
  end
end
