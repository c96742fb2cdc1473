# frozen_string_literal: true

require_relative "../places/location"
require_relative "../places/native_frame"

module Heapline
  module Leaks
    # Which records are an extension's. Much of what they keep out is what ruby_memcheck keeps out, by the rules that
    # its README publishes: what the VM asked for itself, what it asked for in Ruby code that the extension called, and
    # what an extension's Init function asks for once.
    class Rules
      # Functions of the VM's API that run Ruby code.
      CALLBACKS = /\Arb_(funcall\w*|check_funcall\w*|vm_call\w*|call_super\w*|yield\w*|eval_string\w*|obj_instance_eval|
                        class_new_instance\w*|obj_call_init\w*|require\w*|load\w*|proc_call\w*|method_call\w*|
                        block_call\w*|iterate|each|inspect|obj_as_string|Array|String|exc_raise|raise|
                        thread_create|ivar_set|const_get\w*|path2class|autoload_load)\z/x
      INIT = /\AInit_/

      VM = "of the Ruby VM itself"
      OTHER = "of other libraries"
      CALLED = "in Ruby code that an extension called"
      INIT_ONCE = "in an extension's Init function"
      SUPPRESSED = "suppressed by "
      LED = "to which only suppressed blocks lead"

      # library: Regexp of the libraries that are looked at, or nil: all but the VM and the system's. all: true: keep
      # everything. suppressions: Suppressions or nil.
      def initialize(library: nil, all: false, suppressions: nil)
        @library = library
        @all = all
        @suppressions = suppressions
        freeze
      end

      # Why the record is not shown (String), or nil. machine: path of the object with the VM, or nil.
      def reason(record, machine)
        hidden = @suppressions&.of(record)
        return SUPPRESSED + hidden.name if hidden

        @all ? nil : origin(record.frames, machine)
      end

      # The same as far as it can be told without names: stacks of libraries' paths. For records that need none.
      def foreign?(paths, machine)
        !@all && paths.none? { |path| looked_at?(path, machine) }
      end

      private

      def origin(frames, machine)
        first = frames.index { |frame| looked_at?(frame.path, machine) }
        return frames.all? { |frame| system?(frame.path, machine) } ? VM : OTHER unless first
        return CALLED if frames.first(first).any? { |frame| frame.path == machine && frame.function&.match?(CALLBACKS) }

        INIT_ONCE if frames.any? { |frame| looked_at?(frame.path, machine) && frame.function&.match?(INIT) }
      end

      def looked_at?(path, machine)
        return false if path.nil?

        @library ? Places::BaseName.of(path).match?(@library) : !system?(path, machine)
      end

      def system?(path, machine)
        path.nil? || path == machine || Places::BaseName.of(path).match?(Places::NativeFrame::SYSTEM)
      end
    end
  end
end
