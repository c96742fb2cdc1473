# frozen_string_literal: true

module Tasks
  # The integration tests that show whether a Ruby's insides are known: lines, stacks, objects, pages, code, leaks,
  # dumps, recordings, over each allocator.
  module VmTests
    # Programs whose every line is known.
    PLANTED = %w[attribution attribution_at_scale public_path].freeze
    ALL = %w[allocators answering code heap_pages heap_truth internal_frames jit_memory leaks ledger live_dump
             object_classes objects objects_moving record record_allocators record_objects ruby_stacks tag threads
             vm_layout vm_proof].concat(PLANTED).freeze

    module_function

    # A MinitestRun's Tally.
    def all
      MinitestRun.new("test:vm", files(ALL)).run
    end

    # jit: "yjit" or "zjit". The programs are compiled at the second call, the tests' own process is not.
    def planted(jit)
      switches = "--#{jit} --#{jit}-call-threshold=2"
      MinitestRun.new("test:planted:#{jit}", files(PLANTED), environment: { "HEAPLINE_TEST_SWITCHES" => switches }).run
    end

    def files(names)
      names.map { |name| "test/integration/#{name}_test.rb" }
    end
    private_class_method :files
  end
end
