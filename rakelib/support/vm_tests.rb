# frozen_string_literal: true

module Tasks
  # The integration tests that show whether a Ruby's insides are known: lines, stacks, objects, pages, code, leaks,
  # dumps, recordings, over each allocator.
  module VmTests
    # Programs whose every line is known.
    PLANTED = %w[attribution attribution_at_scale late_start public_path].freeze
    # What reads structs of the VM: what goes wrong where a compiler or linker laid them out otherwise.
    LAYOUT = %w[attach class_definitions code heap_pages heap_truth jit_memory live_dump object_classes objects
                record_objects ruby_stacks vm_layout vm_proof].concat(PLANTED).freeze
    ALL = %w[allocators answering internal_frames leaks ledger objects_moving record record_allocators tag
             threads].concat(LAYOUT).freeze

    module_function

    # A MinitestRun's Tally.
    def all
      MinitestRun.new("test:vm", files(ALL)).run
    end

    def layout
      MinitestRun.new("test:layout", files(LAYOUT)).run
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
