# frozen_string_literal: true

require "rbconfig"

module Heapline
  module Attach
    # What must be known of the processor to have another process run code.
    # name: for messages; elf: its number in object files; returning: bytes of code that returns from a signal's
    # handler; system_call: of code that makes a system call and returns, as ext/heapline/machine_*.h enters it.
    Machine = Struct.new(:name, :elf, :returning, :system_call, keyword_init: true) do
      # The one that runs this Ruby.
      def self.here
        self::ALL.fetch(RbConfig::CONFIG["host_cpu"], self::X86_64)
      end
    end

    # mov $15, %rax; syscall. And: syscall; ret.
    Machine::X86_64 = Machine.new(name: "x86-64", elf: 62, returning: "\x48\xC7\xC0\x0F\x00\x00\x00\x0F\x05".b,
                                  system_call: "\x0F\x05\xC3".b).freeze
    # mov x8, #139; svc #0. And, of the C library's clone: svc #0; cmp x0, #0; b.eq to what the new process does.
    Machine::AARCH64 = Machine.new(name: "64-bit ARM", elf: 183, returning: "\x68\x11\x80\xD2\x01\x00\x00\xD4".b,
                                   system_call: "\x01\x00\x00\xD4\x1F\x00\x00\xF1\xA0\x00\x00\x54".b).freeze
    Machine::ALL = { "x86_64" => Machine::X86_64, "aarch64" => Machine::AARCH64 }.freeze
  end
end
