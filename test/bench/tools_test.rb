# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "support"

module Bench
  class ToolsTest < Minitest::Test
    def test_a_core_that_was_not_built_is_absent_with_the_remedy
      _, absent = find("/nowhere/libheapline.so")

      assert_equal({ "heapline" => "not built: run rake compile" }, absent)
    end

    # The loader warns about such a file and goes on without it: the run would look free of cost.
    def test_a_core_that_the_loader_ignores_is_absent
      Dir.mktmpdir do |directory|
        core = File.join(directory, "libheapline.so")
        File.write(core, "no shared object")
        present, absent = find(core)

        assert_equal %w[plain], present.map(&:name)
        assert_equal({ "heapline" => "does not work in this Ruby" }, absent)
      end
    end

    def test_a_tool_wraps_a_program_by_preload_or_by_command
      tool = Tool.new(preload: [{ "LD_PRELOAD" => "a.so" }, []], command: [{}, %w[tool run]])

      assert_equal [{ "LD_PRELOAD" => "a.so" }, %w[ruby -e 1]], tool.wrap(%w[ruby -e 1], :preload)
      assert_equal [{}, %w[tool run ruby -e 1]], tool.wrap(%w[ruby -e 1], :command)
    end

    def test_a_tool_without_a_command_measures_no_starts
      tool = Tool.new(preload: [{}, []])

      assert tool.measures?(Workload.named(%w[redcarpet]).first)
      refute tool.measures?(Workload.named(%w[start]).first)
    end

    def test_tools_that_trace_objects_have_workloads_of_their_own
      tracing = Tool.new(name: "objects", preload: [{}, []])
      mwrap = Tool.new(name: "mwrap", preload: [{}, []], command: [{}, []])
      loop, redcarpet = %w[object_loop redcarpet].map { |name| Workload.named([name]).first }

      assert tracing.measures?(loop)
      refute tracing.measures?(redcarpet)
      refute mwrap.measures?(loop)
      assert mwrap.measures?(redcarpet)
    end

    private

    def find(core)
      equipment = Struct.new(:environment).new(Environment.clean)
      Tools.new(Interpreter.new(RbConfig.ruby), equipment, scratch: Dir.tmpdir, core: core).find(%w[plain heapline])
    end
  end
end
