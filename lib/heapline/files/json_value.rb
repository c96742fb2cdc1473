# frozen_string_literal: true

require "json"
require_relative "../errors"

module Heapline
  # A value in JSON that came from a file, and the place where it stands there. What is asked of it is there and of the
  # kind that was asked for; else an InputError names the file and the place: "r.json: sites[3].live_bytes is no
  # number". Text is valid UTF-8, numbers fit into 64 bits.
  # @api private
  class JsonValue
    # Values within values; what heapline writes has 5.
    NESTING = 64
    REST = / at '(.*)'/m
    PLACE = /line \d+ column \d+/

    # name: what the file is called. Raises InputError where the text is no JSON.
    def self.parse(text, name)
      new(JSON.parse(text, max_nesting: NESTING, allow_duplicate_key: true), name)
    rescue JSON::NestingError
      raise InputError, "#{name} is no JSON of heapline: values are nested more than #{NESTING} deep"
    rescue JSON::ParserError => e
      raise InputError, "#{name} is damaged or no JSON#{place(text, e.message)}"
    end

    # Where a parser stopped, in the words of the versions of the gem.
    def self.place(text, message)
      return " from #{message[PLACE]} on" if message.match?(PLACE)

      rest = message[REST, 1]
      " from byte #{text.bytesize - rest.bytesize} on" if rest && text.end_with?(rest)
    end
    private_class_method :place

    # What the file is called; and what was parsed, of which nothing is known.
    attr_reader :name, :data

    # above, key, index: where it stands: the JsonValue that it is in (or its name), and there at a key, in a list.
    def initialize(data, name, above = nil, key = nil, index = nil)
      @data = data
      @name = name
      @above = above
      @key = key
      @index = index
    end

    # Is there a value at this key that is not null?
    def key?(key)
      @data.is_a?(Hash) && !@data[key].nil?
    end

    # The JsonValue at a key.
    def fetch(key)
      JsonValue.new(member(key), @name, self, key)
    end

    # The list at a key: an Array of which nothing is known, of JsonValues, of whole numbers, of texts.
    def array(key)
      of(key, Array, "list")
    end

    def list(key)
      array(key).each_with_index.map { |data, i| JsonValue.new(data, @name, self, key, i) }
    end

    def numbers(key)
      found = array(key)
      return found if found.all? { |each| each.is_a?(Integer) && each.bit_length <= 64 }

      list(key).map { |value| value.number(nil) }
    end

    def texts(key)
      list(key).map { |value| value.text(nil) }
    end

    # Hash of key => JsonValue of the object at a key.
    def pairs(key)
      of(key, Hash, "object").to_h { |name, _| [name, fetch(key).fetch(name)] }
    end

    # Integer; key: nil for the value itself. So for `text`.
    def number(key)
      found = key.nil? ? @data : member(key)
      return found if found.is_a?(Integer) && found.bit_length <= 64

      found = of(key, Numeric, "number")
      found = found.round if found.is_a?(Float) && found.finite?
      found.is_a?(Integer) && found.bit_length <= 64 ? found : wrong("#{inside(key)} is no number that heapline writes")
    end

    # String, valid UTF-8.
    def text(key)
      found = of(key, String, "text")
      found.valid_encoding? ? found : found.scrub
    end

    # Integer of "0x1f30".
    def address(key)
      found = text(key)
      found.match?(/\A0x\h{1,16}\z/) ? found.hex : wrong("#{inside(key)} is no address")
    end

    # The same, or nil where there is none.
    def number?(key)
      number(key) if key?(key)
    end

    def text?(key)
      text(key) if key?(key)
    end

    # Is it true?
    def true?(key)
      key?(key) && @data[key] == true
    end

    # Raises InputError where the version at a key is another one than `known`.
    def check_version(key, known)
      found = number(key)
      return if found == known

      wrong("is of version #{found}, and this heapline reads version #{known}: " \
            "#{found > known ? "take a newer one" : "it is too old"}")
    end

    # Raises InputError with what is wrong.
    def wrong(problem)
      raise InputError, "#{@name}#{":" unless problem.start_with?("is ", "has ")} #{problem}"
    end

    private

    def of(key, type, what)
      found = key.nil? ? @data : member(key)
      found.is_a?(type) ? found : wrong("#{inside(key)} is no #{what}")
    end

    def member(key)
      @data.is_a?(Hash) ? @data[key] : wrong("#{place || "what it holds"} is no object")
    end

    # Said only of what is wrong, and so not made before.
    def inside(key)
      [place, key].compact.join(".")
    end

    protected

    def place
      return @above unless @above.is_a?(JsonValue)

      [@above.place, @key].compact.join(".") + (@index ? "[#{@index}]" : "")
    end
  end
end
