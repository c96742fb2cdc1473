# frozen_string_literal: true

require "test_helper"
require "support/rendered_capture"
require "heapline/recording/pprof"

module Heapline
  class Recording
    class PprofTest < Minitest::Test
      include RenderedCapture

      # Total bytes of what pprof shows for a sample type.
      def total(path, index)
        pprof("-top", "-unit=B", "-nodefraction=0", "-sample_index=#{index}", path)[/of (\d+)B? total/, 1].to_i
      end

      def test_pprof_adds_up_the_same
        text, oracle = random(Pprof)
        path = kept(text, "run.pb.gz")
        allocations, bytes, _, peak, _, live, _, temporary = oracle.sums
        assert_equal [bytes, peak, live, temporary],
                     (%w[alloc_space peak_space inuse_space temporary_space].map { |index| total(path, index) })
        assert_includes pprof("-raw", path), "peak_space/bytes[dflt]"
        assert_match(/of #{allocations} total/, pprof("-top", "-sample_index=alloc_objects", path))
      end

      def test_threads_tags_and_what_it_is
        text, oracle = random(Pprof, metric: :live)
        path = kept(text, "run.pb.gz")
        raw = pprof("-raw", path)
        assert_includes raw, "inuse_space/bytes[dflt]"
        assert_match(/Comment: command: ruby$/, raw)
        workers = pprof("-top", "-unit=B", "-nodefraction=0", "-tagfocus=thread=worker", "-sample_index=alloc_space",
                        path)
        assert_includes workers, "#{oracle.sums { |block| block.thread == "worker" }[1]}B"
      end

      def test_objects_say_so_and_of_which_class
        builder = Captures::Builder.new
        3.times { |at| builder.object(at, 40, "Foo", [["make", "/a.rb", 1, nil, nil]], thread: "main") }
        builder.object(5, 160, "Bar\e", [["make", "/a.rb", 1, nil, nil]], thread: "main")
        builder.birth(6, 7, [["make", "/a.rb", 1, nil, nil]])
        blocks, objects = [{}, { objects: true }].map do |choice|
          Captures.file(builder.to_s) { |path| rendered(Pprof, Heapline::Capture.open(path, **choice)) }
        end
        tags = pprof("-tags", "-unit=B", "-sample_index=alloc_space", kept(objects, "run.pb.gz"))
        assert_match(/kind: Total 280.0B\s+280.0B .*: object$/, tags)
        assert_match(/class: Total 280.0B\s+160.0B .*: Bar\\x1B\s+120.0B .*: Foo$/, tags)
        refute_match(/kind|class/, pprof("-tags", kept(blocks, "run.pb.gz")))
      end

      def test_equal_captures_give_equal_bytes_and_hostile_names_are_inert
        assert_equal random(Pprof).first, random(Pprof).first
        refute_includes pprof("-raw", kept(hostile(Pprof), "run.pb.gz")), "\e"
        assert_includes pprof("-raw", kept(empty(Pprof), "empty.pb.gz")), "peak_space"
      end

      def test_one_format_for_two_captures
        format = Pprof.new
        builder = Captures.random(3, 300)
        texts = [Captures.random(1, 300), builder].map do |one|
          Captures.file(one.to_s) do |path|
            StringIO.new("".b).tap do |io|
              format.render(Heapline::Capture.open(path), io)
            end.string
          end
        end
        assert_equal of(builder, Pprof), texts.last
      end
    end
  end
end
