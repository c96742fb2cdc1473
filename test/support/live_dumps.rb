# frozen_string_literal: true

require "json"
require_relative "accounted"

# Heap dumps of running processes, by the command.
module LiveDumps
  include Accounted

  # Lines of the dump of a process, parsed.
  def dump_of(pid, *options, name: "dump.json")
    out, err, status = heapline("heap", "dump", *options, *Heapline::TestHelper::PATIENTLY, "-o", path(name), pid.to_s)
    assert status.success?, err
    assert_match(/\Awrote #{Regexp.escape(path(name))}: process #{pid}, [\d.]+ [kM]B of lines; /, out)
    File.readlines(path(name), encoding: "BINARY").map { |line| JSON.parse(line.force_encoding("UTF-8").scrub) }
  end

  # Copies of the process that still are there.
  def twins_of(pid)
    Dir.glob("/proc/[0-9]*/stat").filter_map do |file|
      fields = File.read(file)[/\).*/m].split
      next unless File.read(file)[/\((.*)\)/m, 1] == "heapline twin"

      parent = File.read("/proc/#{fields[2]}/stat")[/\).*/m].split
      file if parent[2].to_i == pid && fields[1] != "Z"
    rescue SystemCallError
      nil
    end
  end
end
