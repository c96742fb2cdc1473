# frozen_string_literal: true

require "open3"
require "rbconfig"
require "tmpdir"
require_relative "../accounting/flight"
require_relative "../command/installation"

module Heapline
  # @api private
  module Doctor
    # Runs a small Ruby program under the core and reads its flight file. `snapshot` is nil where that failed, and
    # `error` then says why.
    class Probe
      PROGRAM = File.expand_path("probe_program.rb", __dir__)
      EVALUATED = "heapline-probe.erb:7"
      LEAST_BYTES = 150_000

      # said: what heapline itself had to say of it, or nil.
      attr_reader :snapshot, :error, :said

      def initialize(env)
        @env = env
        Dir.mktmpdir("heapline-doctor") { |directory| run(directory) }
      rescue Error, SystemCallError => e
        @error = e.message
      end

      # Hash of what was tried ("method", "block", "Fiber", "Thread", "eval") => was it counted at its line?
      def attribution
        expected.transform_values { |location| counted?(location) }
      end

      # Was the JIT's own memory told apart? The program enables YJIT where it can be.
      def jit_told?
        @snapshot.any? { |site| site.location.jit? }
      end

      private

      def run(directory)
        changes = { "LD_PRELOAD" => preload, "HEAPLINE" => options, "HEAPLINE_DIR" => directory,
                    "HEAPLINE_TOP" => nil, "HEAPLINE_REPORTER" => nil }
        output, status = Open3.capture2e(changes, RbConfig.ruby, "--disable=gems", PROGRAM)
        file = Dir.glob(File.join(directory, "*.flight")).first
        return @error = complaint(output, status) unless status.success? && file

        @said = output[/^heapline: (.+)/, 1]
        @snapshot = Accounting::Flight.read(file)
      end

      # As the user has it: with Ruby's public API alone.
      def options
        "quiet,keep,objects#{",api" if @env["HEAPLINE"].to_s.split(",").include?("api")}"
      end

      # With what LD_PRELOAD names already: an allocator there must get along with the core.
      def preload
        core = Command::Installation.preloadable_core
        [core, *@env["LD_PRELOAD"].to_s.split(/[\s:]+/).reject { |path| path.empty? || path == core }].join(":")
      end

      def complaint(output, status)
        said = output.lines.first.to_s.strip
        what = status.success? ? "left no flight file" : "ended with #{status.inspect[/(exit|SIG).*/]&.delete(">")}"
        "a small Ruby program under the core #{what}#{": #{said}" unless said.empty?}"
      end

      def expected
        lines = File.readlines(PROGRAM).each_with_index.filter_map do |text, index|
          [Regexp.last_match(1), "#{PROGRAM}:#{index + 1}"] if text =~ /# probe: (\w+)/
        end
        lines.to_h.merge("eval" => EVALUATED)
      end

      def counted?(location)
        site = @snapshot[location]
        !site.nil? && site.bytes_allocated >= LEAST_BYTES
      end
    end
  end
end
