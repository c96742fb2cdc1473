# frozen_string_literal: true

module Tasks
  # What the Ruby extensions show the dynamic linker: the function by which Ruby begins them, the one that the core
  # looks up, and nothing that another library could replace, or be replaced by.
  class ExtensionSymbolsGate < Gate
    LIBRARIES = {
      "lib/heapline/native.so" => %w[Init_native heapline_twin], "lib/heapline/heap.so" => %w[Init_heap],
      "lib/heapline/capture.so" => %w[Init_capture], "lib/heapline/corefile.so" => %w[Init_corefile]
    }.freeze

    def name
      "extension-symbols"
    end

    def problems
      LIBRARIES.flat_map { |library, functions| problems_of(library, functions) }
    end

    private

    def problems_of(library, functions)
      path = File.join(@root, library)
      return ["#{library} is not there: rake compile"] unless File.exist?(path)

      _, output = Shell.capture("nm", "-D", "--defined-only", path)
      exported = output.lines.map { |line| line.split.last }
      return [] if exported.sort == functions

      ["#{library} exports #{exported.sort.first(5).join(", ")}; it should #{functions.join(" and ")} alone"]
    end
  end
end
