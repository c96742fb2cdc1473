# frozen_string_literal: true

module Heapline
  # A bounded set of labels. What is labelled by names that come from outside (paths, job classes) could be given ever
  # new ones; beyond the limit all further ones are OTHER. Any thread may ask.
  class Labels
    OTHER = "(other)"
    # Below the core's limit of 1,024 tags, so that the application's own labels find room too.
    LIMIT = 400

    def initialize(limit = LIMIT)
      @limit = limit
      @known = {}
      @lock = Mutex.new
    end

    # `label` itself while there is room or if it is known, else OTHER; nil stays nil.
    def admit(label)
      return if label.nil?

      @known[label] || @lock.synchronize { @known.size < @limit ? add(label) : OTHER }
    end

    private

    def add(label)
      frozen = label.to_s.dup.freeze
      @known[frozen] = frozen
    end
  end
end
