# frozen_string_literal: true

module Tasks
  # All that lib/ reads goes through Heapline::Input (lib/heapline/files/input.rb), which knows what is too large,
  # endless, a device, packed or no text. Whoever reads otherwise stands here with a reason.
  class InputsGate < Gate
    READS = /\b(?:File|IO|Pathname)\.(?:read|binread|foreach|readlines|open|new|copy_stream|sysopen)\b|
             \bKernel\.open\b|\bZlib::GzipReader\b/x
    # What is opened to be written, and what the kernel tells.
    OTHER = %r{WRONLY|RDWR|FLAGS|flags|"[wa]b?"|"/proc/|"\#\{@?directory\}/pagemap"}
    EXCEPTIONS = {
      "lib/heapline/files/input.rb" => "it is the reader",
      "lib/heapline/processes/twin_pipe.rb" => "a pipe of our own, which it made itself",
      "lib/heapline/corefile/dump_command.rb" => "a flight file's descriptor, for the tracer in C",
      "lib/heapline/top/observer.rb" => "a flight file's descriptor, for the reader in C",
      "lib/heapline/growth/log/tree.rb" => "a flight file's descriptor, for the reader in C",
      "lib/heapline/growth/log/sinks.rb" => "the last byte of the log that it writes",
      "lib/heapline/report/exit_report_command.rb" => "a copy of a flight file, descriptor to descriptor",
      "lib/heapline/processes/memory_map.rb" => "smaps of a process, which the kernel writes",
      "lib/heapline/page/document.rb" => "the scripts of the gem itself",
      "lib/heapline/doctor/probe.rb" => "a program of the gem itself"
    }.freeze

    private

    def patterns
      %w[lib/**/*.rb exe/*]
    end

    def check
      (files - EXCEPTIONS.keys).flat_map { |file| reads(file) } + stale
    end

    def reads(file)
      lines = File.readlines(File.join(@root, file), encoding: "UTF-8").each_with_index
      lines.select { |line, _| line.match?(READS) && !line.match?(OTHER) && !line.match?(/\A\s*#/) }.map do |line, i|
        "#{file}:#{i + 1} reads beside Heapline::Input: #{line.strip}"
      end
    end

    # An exception that is none any more would let the next one in.
    def stale
      EXCEPTIONS.keys.select { |file| files.include?(file) && !File.read(File.join(@root, file)).match?(READS) }
                .map { |file| "#{file} is an exception of the inputs gate, and reads nothing" }
    end
  end
end
