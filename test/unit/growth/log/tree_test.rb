# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/growth/log/tree"

module Heapline
  module GrowthLog
    class TreeTest < Minitest::Test
      include CliHelper

      def tree(*pids)
        Tree.new(Accounting::FlightDirectory.new(environment), pids, Settings.new)
      end

      # A process that waits for the end of the test, and its flight file.
      def child(**header)
        pid = Process.spawn("sleep", "100", out: File::NULL, err: File::NULL)
        (@children ||= []) << pid
        ticks = Accounting::ProcessIdentity.of(pid).start_ticks
        [pid, flight(pid: pid, start_ticks: ticks, state: 1, ended_ns: 0, **header)]
      end

      def teardown
        @children&.each { |pid| Process.kill(:KILL, pid) && Process.wait(pid) }
        super
      end

      def pids(followed)
        followed.map(&:pid).sort
      end

      def test_finds_what_it_was_told_and_each_once
        pid, = child
        child
        tree = tree(pid)
        found = tree.discover([])
        assert_equal [pid], pids(found)
        assert_empty tree.discover(found)
      end

      def test_finds_what_was_started_under_the_top_process_and_forked_from_those
        started, = child(top: 77)
        forked, = child(forked_from: started)
        tree = tree(77)
        assert_equal [started, forked].sort, pids(found = tree.discover([]))
        assert_empty tree.discover(found)
        assert_equal [started, forked].sort, pids(tree(started).discover([]))
      end

      def test_a_fork_of_one_that_is_followed
        parent, = child
        tree = tree(parent)
        found = tree.discover([])
        worker, = child(forked_from: parent)
        assert_equal [worker], pids(tree.discover(found))
      end

      # It is followed once it has taken over what it inherited: its file cannot be read before.
      def test_a_fork_that_rests
        parent, = child
        tree = tree(parent)
        found = tree.discover([])
        worker, path = child(forked_from: parent, state: 5)
        assert_empty tree.discover(found)
        assert_empty tree.discover(found)
        File.binwrite(path, [1].pack("L"), 16)
        assert_equal [worker], pids(tree.discover(found))
        assert_empty tree.discover(found)
      end

      def test_what_was_started_under_an_earlier_process_with_the_same_pid_is_none_of_it
        top, = child
        ticks = Accounting::ProcessIdentity.of(top).start_ticks
        mine, = child(top: top, top_ticks: ticks)
        child(top: top, top_ticks: ticks - 1)
        assert_equal [top, mine].sort, pids(tree(top).discover([]))
      end

      def test_a_fork_of_an_earlier_process_with_the_same_pid_is_none_of_it
        parent, = child
        tree = tree(parent)
        found = tree.discover([])
        child(forked_from: parent, forked_from_ticks: 1)
        assert_empty tree.discover(found)
      end

      def test_a_file_in_place_of_another_is_a_new_image
        pid, path = child
        tree = tree(pid)
        found = tree.discover([])
        File.rename(path, "#{path}.old")
        File.write(path, File.binread("#{path}.old"))
        assert_equal [pid], pids(tree.discover(found))
      end

      def test_the_dead_the_damaged_and_links_are_passed_over
        flight(pid: 1 << 22, start_ticks: 5)
        pid, path = child
        File.write(path, "no flight file")
        other, link = child
        File.rename(link, "#{link}.old")
        File.symlink("#{link}.old", link)
        assert_empty tree(1 << 22, pid, other).discover([])
      end

      def test_a_directory_that_is_gone
        assert_empty Tree.new(Accounting::FlightDirectory.new("HEAPLINE_DIR" => "/nowhere"), [1],
                              Settings.new).discover([])
      end

      def test_what_was_adopted_is_not_found_again
        pid, path = child
        tree = tree(pid)
        assert_equal pid, tree.adopt(File.open(path)).pid
        assert_empty tree.discover([])
      end
    end
  end
end
