# frozen_string_literal: true

require "test_helper"
require "heapline/recording/rings"

module Heapline
  class Recording
    class RingsTest < Minitest::Test
      def in_directory
        Dir.mktmpdir { |directory| yield directory, Rings.new(directory) }
      end

      def test_names
        process = Rings.process("/d/4711-99.ring")
        assert_equal [4711, 99], [process.pid, process.start_ticks]
        assert_equal "/d/4711-99.flight", Rings.flight("/d/4711-99.ring")
        assert_equal "/d/4711-99.ring", Rings.beside("/d/4711-99.flight")
      end

      def test_what_is_no_ring_is_passed_over
        Extension.load(:capture)
        in_directory do |directory, rings|
          File.write(File.join(directory, "4711-99.ring"), "no ring")
          File.write(File.join(directory, "other"), "")
          assert_empty rings.asked_by(Process.pid)
        end
        assert_empty Rings.new("/nonexistent").asked_by(1)
      end

      # What dead processes left goes; what a living one needs stays.
      def test_sweep
        in_directory do |directory, rings|
          own = Accounting::ProcessIdentity.of(Process.pid)
          kept = ["#{own.pid}-#{own.start_ticks}.ring", "#{Process.pid}.recorded", "4711-99.flight"]
          gone = %w[4194305-1.ring 4194305.recorded 4194305.refused 4194305.taken]
          (kept + gone).each { |name| File.write(File.join(directory, name), "") }
          rings.sweep
          assert_equal kept.sort, Dir.children(directory).sort
          rings.sweep(Process.pid)
          refute_includes Dir.children(directory), "#{Process.pid}.recorded"
        end
      end

      # A process that executes another program makes its next ring under the same name.
      def test_what_is_taken_is_the_file_and_not_the_name
        Extension.load(:capture)
        in_directory do |directory, _|
          path = File.join(directory, "4711-99.ring")
          File.write(path, "the first")
          taken = Rings.take(path)
          File.write(path, "the second")
          assert_equal ["the first", "the second"], [File.read(taken), File.read(path)]
          assert_raises(Errno::ENOENT) { 2.times { Rings.take(path) } }
        end
      end

      def test_a_refused_ring_loses_its_name
        in_directory do |directory, _|
          path = File.join(directory, "4711-99.ring")
          File.write(path, "")
          Rings.refuse(path)
          assert_path_exists path # there is no flight file to ask with; the next sweep removes it
        end
      end
    end
  end
end
