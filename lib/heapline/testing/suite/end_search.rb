# frozen_string_literal: true

module Heapline
  module Suite
    # The search for lost blocks at the end of a process that ran tests: one for all of its tests. What it finds is told
    # apart by generations, of which each test has its own (Losses). Until then the last test's stack is gone, too.
    module EndSearch
      # The file of a process that was searched, in the directory of the results.
      def self.file(directory, pid)
        File.join(directory, "#{pid}.leaks")
      end

      # Have this process searched at its end.
      def self.arrange(directory)
        pid = Process.pid
        since = Native.generation
        Kernel.at_exit { search(file(directory, pid), since) if Process.pid == pid }
      end

      # The tests come first: what goes wrong here is said, and nothing else.
      def self.search(path, since)
        Heapline.quiet do
          part = "#{path}.part"
          File.open(part, File::WRONLY | File::CREAT | File::EXCL, 0o600) do |file|
            Native.leaks(file.fileno, since, false, true)
          end
          File.rename(part, path)
        end
      rescue SystemCallError, Error => e
        Error.say("lost blocks were not looked for in process #{Process.pid}: #{e.message}")
      end
      private_class_method :search
    end
  end
end
