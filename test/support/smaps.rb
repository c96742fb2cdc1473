# frozen_string_literal: true

require "heapline/processes/memory_map"

# /proc/PID/smaps texts with known figures.
module Smaps
  # rows: [start, finish, access, name, resident KiB, flags]; the other fields are as the kernel has them.
  def smaps(*rows)
    rows.map do |start, finish, access, name, resident, flags|
      offset = name.to_s.include?("@") ? name[/@(\h+)/, 1].hex : 0
      format("%x-%x %s %08x 00:00 0 %s\nRss: %8d kB\nPss: 0 kB\nVmFlags: rd wr %s\n", start, finish, access, offset,
             name.to_s.sub(/@\h+/, ""), resident, flags)
    end.join
  end

  def map_of(*rows)
    Heapline::Processes::MemoryMap.parse(smaps(*rows))
  end

  # A recorded one: test/fixtures/smaps/NAME.txt
  def recorded(name)
    File.binread(File.join(Heapline::TestHelper::ROOT, "test", "fixtures", "smaps", "#{name}.txt"))
  end
end
