# frozen_string_literal: true

require_relative "installation"

module Heapline
  module CLI
    # The test suite as a process of its own, which this one waits for: under heapline, without a report.
    module SuiteProcess
      # What is for the suite and reaches this process alone. The terminal's Ctrl-C and Ctrl-\ reach both.
      PASSED_ON = %w[TERM HUP USR1 USR2].freeze
      ENDURED = %w[INT QUIT].freeze

      # Run `words` with `environment` (Hash) beside this one's. Live blocks are kept, so that what grows or is lost has
      # its C functions. The exit status as a shell has it: 128 and the signal where one ended it.
      def self.run(words, environment)
        pid = nil
        former = handle { |signal| pass_on(signal, pid) }
        pid = Process.spawn(environment, *Installation.own_process("run", "--quiet", "--blocks", "--", *words))
        _, status = Process.wait2(pid)
        status.exitstatus || (128 + status.termsig)
      ensure
        former&.each { |signal, handler| trap(signal, handler || "DEFAULT") }
      end

      # A handler, and not IGNORE: that would be inherited.
      def self.handle(&pass_on)
        PASSED_ON.to_h { |signal| [signal, trap(signal) { pass_on.call(signal) }] }
                 .merge(ENDURED.to_h { |signal| [signal, trap(signal) { nil }] })
      end

      def self.pass_on(signal, pid)
        Process.kill(signal, pid) if pid
      rescue Errno::ESRCH
        nil
      end
      private_class_method :handle, :pass_on
    end
  end
end
