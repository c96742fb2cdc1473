# frozen_string_literal: true

require "json"
require "heapline/accounting/flight"
require "heapline/leaks/loss_record"
require "heapline/leaks/findings"
require "heapline/places/location"

# Values of a search for lost blocks, for tests of what is made of them.
module LeakReports
  module_function

  def frame(function: "leak", path: "/x/libfoo.so", file: "foo.c", line: 12, **more)
    Heapline::Places::NativeFrame.new(function: function, path: path, library: path && File.basename(path), file: file,
                                      line: line, offset: 0x1f30, inlined: false, **more)
  end

  def record(kind: :definite, blocks: 2, bytes: 80, frames: [frame], path: "/a/app.rb", **more)
    location = Heapline::Places::Location.new(path: path, lineno: 3, label: "App#go", library: "libfoo.so")
    Heapline::Leaks::LossRecord.new(kind: kind, blocks: blocks, bytes: bytes, led_blocks: 0, led_bytes: 0,
                                    location: location, frames: frames, first_generation: 1, last_generation: 2,
                                    addresses: [0x1000], pid: 42, **more)
  end

  def search(**more)
    Heapline::Leaks::Findings::Search.new(pid: 42, blocks: 1000, bytes: 50_000, totals: { definite: [2, 80] },
                                          pause: 0.0014, gc: 0.02, scan: 0.1, threads: 3, threads_without_registers: 0,
                                          blocks_missed: 0, generation: 7, **more)
  end

  def leaks(records = [record], **more)
    Heapline::Leaks::Findings.new(records, searches: [search], **more)
  end

  # What the core writes; libraries: pairs of path and where its code begins.
  def raw(records: [raw_record], libraries: [["/x/libfoo.so", 0x10000], ["/x/libruby.so", 0x20000]], **more)
    mappings = libraries.map { |path, begins| { path: path, begin: begins, end: begins + 0x1000, offset: 0 } }
    kinds = Heapline::Leaks::Findings::KINDS.to_h { |kind| [kind, { blocks: 1, bytes: 10 }] }
    JSON.generate({ heapline_leaks: 1, pid: 42, vm: 0x20010, generation: 7, since: 0, blocks: 9, bytes: 90,
                    blocks_missed: 0, pause_ns: 1_000_000, gc_ns: 2_000_000, scan_ns: 3_000_000, threads: 1,
                    threads_without_registers: 0, totals: kinds, libraries: mappings, records: records }.merge(more))
  end

  def raw_record(frames: [0x10100, 0x20100], kind: "definite", **site)
    { kind: kind, blocks: 1, bytes: 10, led_blocks: 0, led_bytes: 0, first_generation: 1, last_generation: 2,
      site: { number: 9, path: "/a/app.rb", line: 3, label: "App#go", library: "/x/libfoo.so", offset: 0 }.merge(site),
      frames: frames, ruby_frames: [{ path: "/a/app.rb", line: 3, label: "App#go" }, { line: 0 }], addresses: [4096] }
  end

  # A stand-in for Symbols: { path => { address => name } }
  class Names
    def initialize(names = {})
      @names = names
    end

    def names(path, addresses)
      addresses.to_h do |address|
        name = @names.dig(path, address)
        [address, name ? [Heapline::Places::Symbols::Name.new(name, "foo.c", 12)] : []]
      end
    end
  end
end
