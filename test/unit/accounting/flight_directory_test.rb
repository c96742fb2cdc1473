# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "heapline/accounting/flight_directory"

module Heapline
  module Accounting
    class FlightDirectoryTest < Minitest::Test
      def test_where_it_is
        assert_equal "/x", FlightDirectory.new({ "HEAPLINE_DIR" => "/x", "XDG_RUNTIME_DIR" => "/run/user/7" }).path
        assert_equal "/run/user/7/heapline", FlightDirectory.new({ "XDG_RUNTIME_DIR" => "/run/user/7" }).path
        assert_equal "/dev/shm/heapline-#{Process.euid}", FlightDirectory.new({ "HEAPLINE_DIR" => "x" }).path
      end

      def test_entries
        in_directory do |path|
          %w[1-1.flight 2-9.flight x.flight 3-3.flight.bak 4-4.flightx].each do |name|
            File.write(File.join(path, name), "")
          end
          Dir.mkdir(File.join(path, "5-5.flight"))
          File.symlink("/etc/passwd", File.join(path, "6-6.flight"))
          File.utime(0, 0, File.join(path, "2-9.flight"))
          directory = FlightDirectory.new({ "HEAPLINE_DIR" => path })
          assert_equal([[1, 1], [2, 9]], directory.entries.map { |entry| [entry.pid, entry.process.start_ticks] })
        end
      end

      def test_of_however_many_files_each_is_an_entry
        in_directory do |path|
          pids = (1..1_100).each { |pid| File.write(File.join(path, "#{pid}-1.flight"), "") }
          directory = FlightDirectory.new({ "HEAPLINE_DIR" => path })
          File.utime(0, 0, File.join(path, "7-1.flight"))
          assert_equal pids.to_a, directory.entries.map(&:pid).sort
          assert_equal 7, directory.find(7).pid
        end
      end

      def test_the_living_process_comes_before_an_older_one_with_its_pid
        in_directory do |path|
          mine = ProcessIdentity.of(Process.pid)
          [mine.start_ticks, 1].each { |ticks| File.write(File.join(path, "#{mine.pid}-#{ticks}.flight"), "") }
          File.utime(0, 0, File.join(path, "#{mine.pid}-#{mine.start_ticks}.flight"))
          directory = FlightDirectory.new({ "HEAPLINE_DIR" => path })
          assert directory.find(mine.pid).alive?
          assert_nil directory.find(1)
          assert directory.fetch(mine.pid).alive?
          assert directory.remove(directory.find(mine.pid))
          refute directory.find(mine.pid).alive?
        end
      end

      def test_a_process_without_a_file_is_an_error_that_helps
        in_directory do |path|
          error = assert_raises(FlightError) { FlightDirectory.new({ "HEAPLINE_DIR" => path }).fetch(1) }
          assert_match(/process 1 is not counted \(no flight file in #{path}\): .*`heapline attach 1`/, error.message)
          assert_match(/`heapline ps` lists the counted processes\z/, error.message)
          error = assert_raises(FlightError) { FlightDirectory.new({ "HEAPLINE_DIR" => path }).fetch(4_999_999) }
          assert_match(/\Athere is no process 4999999, and no flight file in #{path} of one that ended/, error.message)
          mine = ProcessIdentity.of(Process.pid)
          File.write(File.join(path, "#{mine.pid}-#{mine.start_ticks}.flight"), "")
          error = assert_raises(FlightError) { FlightDirectory.new({ "HEAPLINE_DIR" => path }).fetch(1) }
          assert_match(/ps` lists the counted processes, such as #{mine.pid}\z/, error.message)
        end
      end

      def test_where_counting_has_ended_nothing_is_counted
        in_directory do |path|
          mine = ProcessIdentity.of(Process.pid)
          directory = FlightDirectory.new({ "HEAPLINE_DIR" => path })
          [[0, [mine.pid]], [5, []]].each do |stopped, pids|
            FlightBuilder.new(pid: mine.pid, start_ticks: mine.start_ticks, state: 1, ended_ns: 0, stopped_ns: stopped)
                         .write(File.join(path, "#{mine.pid}-#{mine.start_ticks}.flight"))
            assert_equal pids, directory.counted
          end
          assert_match(/ps` lists the counted processes\z/, assert_raises(FlightError) { directory.fetch(1) }.message)
        end
      end

      # One directory is one, whatever it is called; what others can write to is none.
      def test_a_process_that_has_its_file_elsewhere
        mine = ProcessIdentity.of(Process.pid)
        name = "#{mine.pid}-#{mine.start_ticks}.flight"
        in_directory do |elsewhere|
          File.write(file = File.join(elsewhere, name), "mapped")
          mapped = File.open(file) { |io| IO::Buffer.map(io, nil, 0, IO::Buffer::READONLY) }
          in_directory do |usual|
            File.symlink(elsewhere, link = File.join(usual, "link"))
            assert_equal [file], found(mine.pid, usual)
            assert_equal [File.join(link, name)], found(mine.pid, link)
            File.chmod(0o777, elsewhere)
            assert_empty found(mine.pid, usual)
          end
          mapped.free
        end
      end

      # Paths of all its files that are known when its mappings were looked at twice.
      def found(pid, path)
        directory = FlightDirectory.new({ "HEAPLINE_DIR" => path })
        2.times { directory.send(:look_elsewhere, pid) }
        directory.entries.map(&:path)
      end

      # Before each program that `heapline CMD` becomes.
      def test_prune_looks_at_no_process_where_nothing_could_go
        in_directory do |path|
          FlightDirectory::KEPT_FILES.times { |pid| File.write(File.join(path, "#{pid + 1}-1.flight"), "") }
          looked = 0
          replacing(ProcessIdentity, :stat, ->(*) { (looked += 1) && nil }) do
            assert_equal 0, FlightDirectory.new({ "HEAPLINE_DIR" => path }).prune
            assert_equal 0, looked
            File.write(File.join(path, "101-1.flight"), "")
            assert_equal 1, FlightDirectory.new({ "HEAPLINE_DIR" => path }).prune
            assert_equal 101, looked
          end
        end
      end

      def test_prune_keeps_the_newest_and_the_living
        in_directory do |path|
          mine = ProcessIdentity.of(Process.pid)
          File.write(File.join(path, "#{mine.pid}-#{mine.start_ticks}.flight"), "")
          File.utime(0, 0, File.join(path, "#{mine.pid}-#{mine.start_ticks}.flight"))
          (1..FlightDirectory::KEPT_FILES + 5).each do |number|
            File.write(File.join(path, "#{number}-1.flight"), "")
            File.utime(0, Time.now - number, File.join(path, "#{number}-1.flight"))
          end
          directory = FlightDirectory.new({ "HEAPLINE_DIR" => path })
          assert_equal 5, directory.prune
          assert_equal FlightDirectory::KEPT_FILES + 1, directory.entries.size
          assert directory.find(mine.pid)
          assert_nil directory.find(FlightDirectory::KEPT_FILES + 1)
          assert_equal FlightDirectory::KEPT_FILES, directory.prune(now: Time.now + FlightDirectory::KEPT_SECONDS + 60)
        end
      end

      def test_a_directory_that_is_missing_is_empty
        directory = FlightDirectory.new({ "HEAPLINE_DIR" => "/nonexistent/heapline" })
        assert_empty directory.entries
        refute directory.exist?
      end
    end
  end
end
