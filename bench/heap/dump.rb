# frozen_string_literal: true

require "fileutils"
require "rbconfig"

module Bench
  module Heap
    # A dump could not be made, or a tool could not be installed.
    class Broken < StandardError; end

    # A real dump of a process that has about so many objects: of an application's kind, with a long list and one large
    # hash.
    class Dump
      FOLDER = File.expand_path("../../tmp/bench", __dir__)
      # Objects that a user brings: itself, its name, tags with two strings, a hash with an address, and the hash's key.
      EACH = 9

      PROGRAM = <<~'RUBY'
        require "objspace"
        class User
          def initialize(number)
            @name = "user number #{number}"
            @tags = ["group #{number % 1000}", :active, number.to_s]
            @profile = { "id" => number, "mail" => "user#{number}@example.org", city: "Berlin" }
          end
        end
        class Link
          attr_accessor :next, :value
        end
        USERS = {}
        Integer(ARGV[1]).times { |number| USERS["key#{number}"] = User.new(number) }
        LIST = at = Link.new
        (USERS.size / 4).times { |number| at = at.next = Link.new.tap { |link| link.value = "value #{number}" } }
        GC.start
        ObjectSpace.dump_all(output: File.open(ARGV[0], "w"))
      RUBY

      def initialize(objects)
        @objects = objects
      end

      # Returns the path of the dump.
      def make
        FileUtils.mkdir_p(FOLDER)
        path = File.join(FOLDER, "heap-#{@objects}.json")
        made = system(RbConfig.ruby, "-e", PROGRAM, path, (@objects / EACH).to_s)
        raise Broken, "the process to be dumped failed" unless made

        path
      end
    end
  end
end
