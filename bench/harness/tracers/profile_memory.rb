# frozen_string_literal: true

# Required by a measured program: memory_profiler over the whole of it, its report made at the end and thrown away.
require "bundler/setup"
require "memory_profiler"
MemoryProfiler.start
at_exit { MemoryProfiler.stop&.pretty_print(File.open(File::NULL, "w")) }
