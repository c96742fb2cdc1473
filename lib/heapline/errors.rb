# frozen_string_literal: true

module Heapline
  # What all errors of heapline have in common.
  class Error < StandardError
    # What a SystemCallError is about, in words: "Permission denied" of "Permission denied @ rb_sysopen - /a/b".
    def self.reason(error)
      error.message[/\A[^@]*[^@ ]/]
    end
  end

  # Figures were asked of a process that runs without the preloaded core.
  class NotEnabled < Error; end

  # A flight file is missing, damaged, cut short or of another version. The message says which file and what is wrong.
  class FlightError < Error; end

  # The command line or the environment variable HEAPLINE asks for something that does not exist. Exit status 2.
  class UsageError < Error; end
end
