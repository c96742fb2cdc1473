# frozen_string_literal: true

# `require "heapline"`, the command and the installation come here first, in other Rubies too.
unless RUBY_ENGINE == "ruby"
  raise LoadError, "heapline needs CRuby, and this is #{RUBY_ENGINE} #{RUBY_ENGINE_VERSION}. It reads the memory of " \
                   "CRuby's VM; a process without that VM is not counted, and runs as usual"
end

module Heapline
  # What all errors of heapline have in common.
  class Error < StandardError
    # Say a line from inside the program, on its standard error. Where that cannot be written it is no harm to it: what
    # at_exit blocks or tests raise would change its status.
    def self.say(text)
      warn "heapline: #{text}"
    rescue SystemCallError, IOError
      nil
    end

    # What a SystemCallError is about, in words: "Permission denied" of "Permission denied @ rb_sysopen - /a/b".
    def self.reason(error)
      return "the working directory has been deleted" if error.message.end_with?(" - getcwd")

      error.message[/\A[^@]*[^@ ]/]
    end

    # Why no file can come to be in a directory, in words; nil: it can.
    def self.of_directory(path)
      return "no such directory" unless File.directory?(path)

      problem(path) unless File.writable?(path)
    end

    # Which of the two it is an attempt tells.
    def self.problem(path)
      File.open(path, File::WRONLY | File::TMPFILE, 0o600, &:close)
    rescue Errno::EROFS
      "read-only file system"
    rescue SystemCallError
      "permission denied"
    end
    private_class_method :problem
  end

  # Figures were asked of a process that runs without the preloaded core.
  class NotEnabled < Error; end

  # A flight file is missing, damaged, cut short or of another version. The message says which file and what is wrong.
  class FlightError < Error; end

  # What was to be read cannot be, or is not what it should be. The message begins with its name.
  class InputError < Error; end

  # The command line or the environment variable HEAPLINE asks for something that does not exist. Exit status 2.
  # @api private
  class UsageError < Error; end
end
