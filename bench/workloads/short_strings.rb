# frozen_string_literal: true

require_relative "support"

# One line that does nothing but make strings. On Ruby 3.1 nearly all its time is malloc and free; since 3.2 such a
# string is embedded in its object and calls neither.
Workload.run(full: 8_000_000, quick: 10_000) do |count|
  bytes = 0
  count.times { bytes += ("x" * 100).bytesize }
  Workload.check(bytes == count * 100, "#{bytes} bytes in #{count} strings of 100")
  bytes
end
