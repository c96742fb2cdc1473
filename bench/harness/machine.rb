# frozen_string_literal: true

require "etc"

module Bench
  # The machine in one line, for the reader of a table: figures of two machines are not compared.
  module Machine
    module_function

    def description
      "#{processor}, #{Etc.nprocessors} processors, #{memory_gb} GB, #{system}, #{libc}"
    end

    def processor
      File.read("/proc/cpuinfo")[/^model name\s*:\s*(.*)/, 1] || Etc.uname[:machine]
    end

    def memory_gb
      (File.read("/proc/meminfo")[/^MemTotal:\s*(\d+)/, 1].to_i / 1_048_576.0).round
    end

    def system
      name = File.read("/etc/os-release")[/^PRETTY_NAME="?([^"\n]*)/, 1]
      "#{name}, Linux #{Etc.uname[:release][/^\d+\.\d+/]}"
    rescue Errno::ENOENT
      "Linux #{Etc.uname[:release]}"
    end

    def libc
      Etc.confstr(Etc::CS_GNU_LIBC_VERSION)
    rescue SystemCallError, NameError
      "unknown libc"
    end

    # Processes that ran or waited for a processor in the minute before the harness started; what it runs itself is
    # not in it.
    LOAD = File.read("/proc/loadavg").to_f
  end
end
